import type { Recovered } from './rebuild-store.js';

const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** What a recovery did and could not do, for people. */
export function recoveredText(recovered: Recovered): string {
  const { records, open, kept, requested, ended, expired, calls, timers, bodies, strangers, aborted, gaps, withoutReply } = recovered;
  const within = [
    ...(requested > 0 ? [`${requested} accepted and not started`] : []),
    ...(kept > 0 ? [`${kept} already in the store`] : []),
    ...(aborted.length > 0 ? [`${aborted.length} to be ended`] : []),
  ];
  return [
    `Rebuilt from ${count(records, 'record')}:`,
    `  ${count(open, 'open run')}${within.length > 0 ? ` (${within.join(', ')})` : ''}`,
    `  ${count(ended, 'ended run')}${expired > 0 ? `; ${expired} more ended too long ago to be restored` : ''}`,
    `  ${count(calls, 'finished call')}`,
    `  ${count(timers, 'timer')}`,
    ...(gaps.length > 0 ? ['Steps that are missing from the log; their inputs will be redelivered:'] : []),
    ...gaps.map(({ runId, versions }) => `  ${runId}: step ${versions.join(', ')}`),
    ...(aborted.length > 0 ? ['Could not be rebuilt and will end as failed:'] : []),
    ...aborted.map(({ runId, fault }) => `  ${runId}: ${fault}`),
    ...(withoutReply.length > 0
      ? ['Calls of open runs whose reply is missing from the log; they are repeated if their task is redelivered:']
      : []),
    ...withoutReply.map(({ runId, steps }) => `  ${runId}: ${count(steps.length, 'call')}`),
    ...(bodies > 0 ? [`${count(bodies, 'body', 'bodies')} above 64 KB ${bodies === 1 ? 'was' : 'were'} lost with the store.`] : []),
    ...(strangers > 0 ? [`${count(strangers, 'record')} could not be decoded and ${strangers === 1 ? 'names' : 'name'} no run.`] : []),
    'The state store belongs to the log again: processes become ready without a restart.',
    '',
  ].join('\n');
}
