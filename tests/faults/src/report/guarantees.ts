import type { Mode } from '@conclave/contracts';
import { freeMb } from '../checker/calm.js';
import { defaultBounds } from '../evidence/evidence.js';
import { protections, type ProtectionName } from '../programs/protections.js';
import { absent, absentOn, cellName, demandsOpenRuns, further, points, services } from '../scenarios/kill-matrix.js';
import type { Cell } from '../scenarios/kill-matrix-cell.js';
import { scenarios } from '../scenarios/list.js';
import type { Control, Scenario } from '../scenarios/scenario.js';
import { readRecorded, type RecordedOutcome } from './recorded.js';

/** What is not promised, said as plainly as what is. */
const notPromised: readonly string[] = [
  'A model call that is in flight when its process dies is made again: it may be paid twice. It is counted (`conclave_duplicate_calls_total`), and a streamed answer shows `superseded`. Embedded, a call is in flight until its reply is durable, which is at the end of the tick in which it came.',
  'A tick of embedded mode that nobody outside has seen anything of goes with the process that dies in it; what an HTTP response, a stream or the start of a call followed from does not.',
  'A question whose acceptance the client never heard of may run or not. Asking again with the same `Idempotency-Key` attaches to it; without one, two equal requests at the same instant may become two runs.',
  'A run that was accepted, whose request had not reached the log, is lost where Redis loses acknowledged writes: with an `appendfsync` other than `always`, or when its disk is lost within that moment. `conclave recover` rebuilds what the log holds, nothing else.',
  'A state store that is replaced by a copy of itself is known by its age: not where the copy is younger than the last renewal of a lease (2 s) of any process that lives, or than a minute when all were down. Restore with `conclave recover --force`, and it does not matter.',
  'Bodies above 64 KB lie in the state store. After the loss of that store a run that needs such a body ends `failed` and says so.',
  'Token chunks that were shown but whose stream was lost with the state store are not shown again; the final answer is.',
  'Embedded mode survives the death of its process with the default `durability: process`. A loss of power may take the last moments with it, unless `durability: power` is set.',
  'Order between runs, and between tasks of a run, is not promised; nothing relies on it.',
  'A Redis replica that takes over (Redis Cluster, Redis Sentinel) lacks what the lost primary had acknowledged and not passed on yet. It is known by its age, as above, and else not; `conclave recover --force` brings back what the log holds. With `stores.redis.replicas: 1` nothing is acknowledged that no replica has, so only a take-over by another one can lack it. The checks by hand (deployment-checks.md) kill a primary, and a broker of three, under load on one machine, where a replica is hardly ever behind.',
  'Failing disks that lie about what they have written were not tried.',
];

const lostWithout = (name: ProtectionName): string => protections.find((one) => one.name === name)!.lost;
const allModes: readonly Mode[] = ['embedded', 'distributed'];

/** docs/guarantees.md, from the list of scenarios and from what the recorded runs of them showed. */
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
  const alone = scenarios.filter(({ controls }) => controls.length === 0).map(({ name }) => name);
  return `# What is guaranteed

<!-- Printed from tests/faults: the scenarios in src/scenarios, the results in recorded.json. \`npm run faults -- --record\` records, \`npm run docs\` prints. -->

Each promise, the fault it is tried against, what the last recorded run showed in each mode, and the command that shows it again. A command starts a
system of its own, harms it while clients ask questions, and lets an offline checker judge what clients, model server, services and log have written down:

1. every accepted request reaches exactly one terminal event, within ${defaultBounds.terminalMs / 1000} s of its acceptance or of the last fault (up to ${longestBoundS()} s where a scenario is slower by nature);
2. every acknowledged append is readable, and nothing is readable that was never sent;
3. every dispatched task has an outcome, and exactly one takes effect;
4. no committed offset passes a record whose effect is not durable;
5. the events a client sees over all its connections have no gap, and a superseded attempt is marked;
6. a finished model call is never made again, and every repeat has a dead process behind it;
7. replaying the audit gives the same decisions and states without a model call;
8. afterwards nothing is left over: no lag, no stuck process, of memory at most ${defaultBounds.memoryFactor} times what it was and ${freeMb} MB.

"Not run" is what nobody has recorded. The short form is the one of CI: fewer questions and shorter storms. CI runs most scenarios in one mode only.

| Promise | Tried against | Recorded | Shown by |
|---|---|---|---|
${rows.join('\n')}

## The kill matrix

\`kill -9\` of each service at each point of handling a record; \`npm run faults -- kill-matrix\`, one cell: \`npm run faults -- kill:<service>:<point>\`.
A run of the cell's own questions has to be open when the process dies; in cells marked ° that is not asked for: there the record in hand is the work.

| Service | ${points.join(' | ')} |
|---|${points.map(() => '---').join('|')}|
${matrix.join('\n')}

Further points: ${further.map((cell) => `${cell.service} at ${cell.point}: ${cellText(cell)}`).join('; ')}.

## What each protection is for

With one protection switched off, the same fault and the same bound have to turn the scenario red through the named check and the ids it prints.
All of them: \`npm run faults -- --controls\`. Nothing is switched off for these, so that nobody has seen them turn red: ${alone.join(', ')}.

| Protection | What is lost without it | Recorded | Shown by |
|---|---|---|---|
${scenarios.flatMap((scenario) => scenario.controls.map((control) => controlRow(scenario, control, lookUp))).join('\n')}

## What is not promised

${notPromised.map((sentence) => `- ${sentence}`).join('\n')}
`;
}

/** `held 2026-11-22`, or what was found; `not run` where nothing is recorded. */
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
