import type { Mode } from '@conclave/contracts';
import { freeMb } from '../checker/calm.js';
import { defaultBounds } from '../evidence/evidence.js';
import { protections, type ProtectionName } from '../programs/protections.js';
import { absent, absentOn, cellName, demandsOpenRuns, further, points, services } from '../scenarios/kill-matrix.js';
import type { Cell } from '../scenarios/kill-matrix-cell.js';
import { scenarios } from '../scenarios/list.js';
import type { Control, Scenario } from '../scenarios/scenario.js';
import { readRecorded, type RecordedOutcome } from './recorded.js';

/** What is not promised. */
const notPromised: readonly string[] = [
  'A model call that is in flight when its process dies is made again: it may be paid twice. It is counted (`conclave_duplicate_calls_total`), and a streamed answer shows `superseded`. In embedded mode, a call is in flight until its reply is durable, at the end of the tick in which it arrived.',
  'If a process dies in embedded mode, the work of its last tick is lost, but only work that nothing outside has seen: everything that led to an HTTP response, a stream entry or the start of a call is kept.',
  'If a client never received the acceptance of its question, the question may run or not. Asking again with the same `Idempotency-Key` attaches to it; without one, two equal requests at the same instant may become two runs.',
  'An accepted run whose request has not reached the log is lost if Redis loses acknowledged writes: with an `appendfsync` other than `always`, or if its disk is lost at that moment. `conclave recover` rebuilds only what is on the log.',
  'A state store that was replaced by an older copy of itself is recognised by its age, unless the copy is younger than the last renewal of a lease (2 s) of a living process, or younger than a minute when all were down. After restoring a copy, always run `conclave recover --force`.',
  'Bodies above 64 KB are in the state store. If that store is lost, a run that needs such a body ends `failed` and says so.',
  'Token chunks that were shown but whose stream was lost with the state store are not shown again; the final answer is.',
  'Embedded mode survives the death of its process with the default `durability: process`. After a power cut, the last moments may be lost, unless `durability: power` is set.',
  'Order between runs, and between tasks of a run, is not promised; nothing relies on it.',
  'A Redis replica that takes over (Redis Cluster, Redis Sentinel) lacks what the lost primary had acknowledged and not yet passed on. This is recognised only by the age of the store, as above; `conclave recover --force` brings back what is on the log. With `stores.redis.replicas: 1` nothing is acknowledged that no replica has, so only a take-over by another replica can lack it. The checks by hand (deployment-checks.md) kill a primary, and one of three brokers, under load on one machine, where a replica is hardly ever behind.',
  'Not tried: failing disks that report writes they have not made.',
];

const lostWithout = (name: ProtectionName): string => protections.find((one) => one.name === name)!.lost;
const allModes: readonly Mode[] = ['embedded', 'distributed'];

/** docs/guarantees.md, from the list of scenarios and the results of their recorded runs. */
export function guaranteesPage(recorded: readonly RecordedOutcome[] = readRecorded()): string {
  const lookUp = (scenario: string, mode: Mode, without: string | null): RecordedOutcome | undefined =>
    recorded.find((one) => one.scenario === scenario && one.mode === mode && one.without === without);
  const rows = scenarios.map((scenario) => {
    const became = scenario.modes.map((mode) => `${mode}: ${resultText(lookUp(scenario.name, mode, null))}`);
    return `| ${scenario.promise} | ${scenario.fault} | ${became.join('; ')} | \`npm run faults -- ${scenario.name}\` |`;
  });
  const cellText = (cell: Cell): string => {
    const name = cellName(cell).replace('kill:', '');
    const ran = allModes.map((mode) => {
      const reason = absentOn(cell, mode);
      if (reason !== null) return `${mode} n/a: ${reason}`;
      const shown = lookUp('kill-matrix', mode, null)?.cells?.[name] ?? lookUp(cellName(cell), mode, null)?.cells?.[name];
      return shown ? `${mode} ${shown.outcome}` : `${mode} not run`;
    });
    return `${ran.join(', ')}${demandsOpenRuns(cell) ? '' : ' °'}`;
  };
  const matrix = services.map(
    (service) =>
      `| ${service} | ${points.map((point) => (absent[service]?.[point] ? `n/a: ${absent[service][point]}` : cellText({ service, point }))).join(' | ')} |`,
  );
  const alone = scenarios.filter(({ controls }) => controls.length === 0);
  return `# What is guaranteed

<!-- Printed from tests/faults: the scenarios in src/scenarios, the results in recorded.json. \`npm run faults -- --record\` records, \`npm run docs\` prints. -->

This page lists each promise, the fault it is tested against, the result of the last recorded run in each mode, and the command that repeats it. A command
starts its own system, injects the fault while clients ask questions, and lets an offline checker judge what clients, model server, services and log have recorded:

1. every accepted request reaches exactly one terminal event, within ${defaultBounds.terminalMs / 1000} s of its acceptance or of the last fault (up to ${longestBoundS()} s for scenarios that are slower by nature);
2. every acknowledged append is readable, and nothing is readable that was never sent;
3. every dispatched task has an outcome, and exactly one takes effect;
4. no committed offset passes a record whose effect is not durable;
5. the events a client sees over all its connections have no gap, and a superseded attempt is marked;
6. a finished model call is never repeated, and every repeated call was in flight when a process died;
7. replaying the audit produces the same decisions and states without a model call;
8. afterwards nothing is left over: no lag, no stuck process, and memory of at most ${defaultBounds.memoryFactor} times what it was plus ${freeMb} MB;
9. nothing of a deleted run is left, for readers or in a store (in scenarios that delete runs);
10. the end of every run that has a webhook reaches its receiver at least once, signed and always under the same id (in scenarios with webhooks);
11. every run that completes gives the whole answer to its own question;
12. what the scenario itself promises and sees of runs, calls and files holds.

"Not run" means that no run was recorded. The short form is the one of CI: fewer questions and shorter storms. CI runs most scenarios in only one mode.

| Promise | Tried against | Recorded | Shown by |
|---|---|---|---|
${rows.join('\n')}

## The kill matrix

\`kill -9\` of each service at each point of handling a record; \`npm run faults -- kill-matrix\`, one cell: \`npm run faults -- kill:<service>:<point>\`.
A run of the cell's own questions must be open when the process dies; cells marked ° do not require this: the record being handled is the work in flight.

| Service | ${points.join(' | ')} |
|---|${points.map(() => '---').join('|')}|
${matrix.join('\n')}

Further points: ${further.map((cell) => `${cell.service} at ${cell.point}: ${cellText(cell)}`).join('; ')}.

## What each protection is for

With one protection switched off, the same fault and the same time limit must turn the scenario red, through the named check and the ids it prints.
All of them: \`npm run faults -- --controls\`. ${aloneText(alone)}

| Protection | What is lost without it | Recorded | Shown by |
|---|---|---|---|
${scenarios.flatMap((scenario) => scenario.controls.map((control) => controlRow(scenario, control, lookUp))).join('\n')}

## What is not promised

${notPromised.map((sentence) => `- ${sentence}`).join('\n')}
`;
}

const aloneText = (alone: readonly Scenario[]): string =>
  alone.length === 0
    ? 'Every scenario has at least one.'
    : `These have none, so they were never seen to turn red:\n\n${alone.map(({ name, uncontrolled }) => `- ${name}: ${uncontrolled}`).join('\n')}`;

/** `held 2026-11-22`, or what was found; `not run` if nothing is recorded. */
function resultText(one: RecordedOutcome | undefined): string {
  if (!one) return 'not run';
  const how = `${one.date}${one.form === 'short' ? ', short form' : ''}`;
  if (one.holds) return `held (${how})`;
  const found = Object.entries(one.found).map(([check, count]) => `${check} ${count}`);
  return `**RED** (${how}): ${[...found, ...(one.error ? ['the scenario broke off'] : [])].join(', ')}`;
}

function controlRow(
  scenario: Scenario,
  { without, check, part, modes }: Control,
  lookUp: (scenario: string, mode: Mode, without: string) => RecordedOutcome | undefined,
): string {
  const name = part ?? scenario.name;
  const became = (modes ?? scenario.modes).map((mode) => {
    const one = lookUp(name, mode, without);
    if (!one) return `${mode}: not run`;
    return one.holds
      ? `${mode}: red as it must be, ${one.found[check] ?? 0} ids (${one.date})`
      : `${mode}: **proves nothing** (${one.date})`;
  });
  return `| \`${without}\` | ${lostWithout(without)} | ${became.join('; ')} | \`npm run faults -- ${name} --without ${without}\` turns *${check}* red |`;
}

const longestBoundS = (): number => Math.max(...scenarios.map(({ bounds }) => bounds?.terminalMs ?? 0)) / 1000;
