import { ancestorsOf } from '@conclave/contracts';
import { missingEffect } from '../world/effects.js';
import type { Surroundings } from '../world/surroundings.js';
import type { Check, Violation } from './check.js';

/** Webhooks of ended runs that were not called although nothing is in progress any longer. */
const untold = (world: Surroundings): readonly string[] =>
  world.broker.records('run.completed').flatMap((_, n) => missingEffect(world, 'webhooks', `run.completed/0/${n}`));

/**
 * A finished record has had its effect, and a removed timer is on the log; both are judged at the moment they happened. The end of each run
 * was delivered.
 */
export const durable: Check = ({ world }) => [
  ...world.observations.doneTooEarly.map(({ record, missing }): Violation => ({
    check: '4 durable',
    id: record,
    sentence: `was finished although this was not durable: ${missing}`,
  })),
  ...untold(world).map((id): Violation => ({ check: '4 durable', id, sentence: 'was never delivered and has no dead letter' })),
  ...world.observations.timersLost.map((id): Violation => ({ check: '4 durable', id, sentence: 'was removed but is not on the log' })),
];

/**
 * A step is called once per attempt, and another attempt starts only after the owner of the previous one died or gave it up: so calls <=
 * steps + deaths x calls in flight. Only the outcome of the newest attempt is stored, and no call follows it.
 */
export const calls: Check = ({ world }) => {
  const { observations } = world;
  const found: Violation[] = [];
  const say = (id: string, sentence: string) => void found.push({ check: '6 calls', id, sentence });
  const perAttempt = new Map<string, number>();
  for (const { step, attempt } of observations.calls) perAttempt.set(`${step} ${attempt}`, (perAttempt.get(`${step} ${attempt}`) ?? 0) + 1);
  for (const [id, count] of perAttempt) if (count > 1) say(id, `was called ${count} times`);
  for (const { step, attempt, predecessorLived } of observations.attempts)
    if (predecessorLived && !observations.abandoned.has(`${step} ${attempt - 1}`))
      say(`${step} ${attempt}`, 'was begun while the owner of the previous attempt was alive');
  for (const { step, attempt, answer, newest, order } of observations.finishes) {
    if (answer !== 'stored') continue;
    if (attempt < newest) say(`${step} ${attempt}`, `was stored although attempt ${newest} had begun`);
    for (const later of observations.calls)
      if (later.step === step && later.order > order)
        say(step, `was called again as attempt ${later.attempt} after its outcome was stored`);
  }
  return found;
};

/**
 * Calls of a run, of a task, or of a run that they started may begin or continue for at most this long after its cancel flag or its end, in
 * milliseconds; frozen and cut-off stretches do not count.
 */
const cancelBoundMs = 3_000;

export const cancel: Check = ({ world }) => {
  const { calls: made, over, excuses, deaths } = world.observations;
  const found: Violation[] = [];
  for (const call of made) {
    const task = call.step.slice(0, call.step.lastIndexOf('/call/'));
    const flagged = Math.min(...[call.runId, task, ...ancestorsOf(call.runId)].map((id) => over.get(id) ?? Infinity));
    if (flagged === Infinity) continue;
    const slot = call.process.slice(0, call.process.lastIndexOf('.'));
    const excused = excuses.filter(({ process, to }) => process === slot && to >= flagged).map(({ to }) => to);
    const bound = Math.max(flagged, ...excused) + cancelBoundMs;
    const died = deaths.find(({ process }) => process === call.process);
    if (call.startedAt > bound)
      found.push({ check: 'cancel', id: call.step, sentence: `was called ${call.startedAt - flagged} ms after its end` });
    else if ((call.endedAt ?? died?.at ?? Infinity) > bound)
      found.push({ check: 'cancel', id: call.step, sentence: `continued for ${(call.endedAt ?? Infinity) - flagged} ms after its end` });
  }
  return found;
};

/** After the storm there is no open run, no lag, no record held by a process, no slot, no timer and no waiting client. */
export const nothingLeft: Check = ({ world }) => {
  const { stores, observations } = world;
  const open = [...stores.runs.rows.values()].filter(({ terminal }) => !terminal).map(({ runId }) => runId);
  const left: readonly (readonly [string, readonly string[]])[] = [
    ['is still open', open],
    ['is a lag', world.lag()],
    ['is still being delivered', stores.deliveries.open()],
    ['is still held', world.heldPlaces()],
    ['is still armed', stores.timers.armed().map(({ runId, name }) => `${runId}/${name}`)],
    ['still waits', observations.clients.filter(({ finished }) => !finished).map(({ name }) => name)],
  ];
  return left.flatMap(([sentence, ids]) => ids.map((id): Violation => ({ check: '8 nothing left', id, sentence })));
};

/** Deaths of processes that held a record, after which it may be dead-lettered without being handled, and failures. */
const deathsForDead = 3;

/** Only poison, records that killed their processes, and records that failed too often become dead letters; an outage never causes that. */
export const deadLetters: Check = ({ world }) => {
  const found: Violation[] = [];
  const { deaths } = world.observations;
  for (const { headers, topic, offset } of world.broker.records('dead')) {
    const record = `${headers['dead-group']} ${headers['dead-topic']}/${headers['dead-partition']}/${headers['dead-offset']}`;
    const id = `${topic}/${offset} (${record})`;
    const isPoison = headers.ce_type === undefined;
    if (headers['dead-reason'] === 'undecodable') {
      if (!isPoison) found.push({ check: 'dead letters', id, sentence: 'was readable' });
    } else if (headers['dead-reason'] === 'killed_process') {
      const killed = deaths.filter(({ records }) => records.includes(record)).length;
      if (killed < deathsForDead) found.push({ check: 'dead letters', id, sentence: `was held by ${killed} processes that died` });
    } else if (world.plan.handlerFault === 0 || !record.startsWith('tasks.evidence')) {
      found.push({ check: 'dead letters', id, sentence: 'failed although only outages could have made it fail' });
    }
  }
  return found;
};
