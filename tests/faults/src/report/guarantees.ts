import { protections, type ProtectionName } from '@conclave/contracts';
import type { Control, Scenario } from '../scenarios/scenario.js';
import { absent, points, services } from '../scenarios/kill-matrix.js';
import { scenarios } from '../scenarios/list.js';

/** What is not promised, said as plainly as what is. */
const notPromised: readonly string[] = [
  'A model call that is in flight when its process dies is made again: it may be paid twice. It is counted (`conclave_duplicate_calls_total`), and a streamed answer shows `superseded`.',
  'A question whose acceptance the client never heard of may run or not. Asking again with the same `Idempotency-Key` attaches to it; without one, two equal requests at the same instant may become two runs.',
  'A run that was accepted, whose request had not reached the log, is lost where Redis loses acknowledged writes: with an `appendfsync` other than `always`, or when its disk is lost within that moment. `conclave recover` rebuilds what the log holds, nothing else.',
  'A state store that is replaced by a copy of itself is known by its age: not where the copy is younger than the last renewal of a lease (2 s) of any process that lives, or than a minute when all were down. Restore with `conclave recover --force`, and it does not matter.',
  'Bodies above 64 KB lie in the state store. After the loss of that store a run that needs such a body ends `failed` and says so.',
  'Token chunks that were shown but whose stream was lost with the state store are not shown again; the final answer is.',
  'The embedded engine survives the death of its process with the default `durability: process`. A loss of power may take the last moments with it, unless `durability: power` is set.',
  'Order between runs, and between tasks of a run, is not promised; nothing relies on it.',
  'A replicated Kafka cluster, Redis Cluster and failing disks that lie about what they have written were not tried.',
];

const lostWithout = (name: ProtectionName): string => protections.find((one) => one.name === name)!.lost;
const commandOf = (scenario: Scenario): string => `\`npm run faults -- ${scenario.name}\``;
const controlText = (scenario: Scenario, { without, check, part }: Control): string => `\`npm run faults -- ${part ?? scenario.name} --without ${without}\` turns *${check}* red`; // prettier-ignore

/** docs/guarantees.md, from the list of scenarios. */
export function guaranteesPage(): string {
  const rows = scenarios.map(
    (scenario) => `| ${scenario.promise} | ${scenario.fault} | ${scenario.engines.join(', ')} | ${commandOf(scenario)} |`,
  );
  const controls = scenarios.flatMap((scenario) => scenario.controls.map((control) => `| \`${control.without}\` | ${lostWithout(control.without)} | ${controlText(scenario, control)} |`)); // prettier-ignore
  const cells = services.map((service) => `| ${service} | ${points.map((point) => (absent[service]?.[point] ? `n/a: ${absent[service][point]}` : 'killed')).join(' | ')} |`); // prettier-ignore
  return `# What is guaranteed

<!-- Printed from tests/faults/src/scenarios by \`npm run docs\`. -->

Each promise, the fault it was tried against, the engines it was tried on, and the command that shows it again. A command starts a system of its own,
harms it while clients ask questions, and lets an offline checker judge what clients, model server, services and log have written down:

1. every accepted request reaches exactly one terminal event;
2. every acknowledged append is readable, and nothing is readable that was never sent;
3. every dispatched task has an outcome, and exactly one takes effect;
4. no committed offset passes a record whose effect is not durable;
5. the events a client sees over all its connections have no gap, and a superseded attempt is marked;
6. a finished model call is never made again, and every repeat has a dead process behind it;
7. replaying the audit gives the same decisions and states without a model call;
8. afterwards nothing is left over: no lag, no stuck process, memory as before.

| Promise | Tried against | Engines | Shown by |
|---|---|---|---|
${rows.join('\n')}

## The kill matrix

\`kill -9\` of each service at each point of handling a record; \`npm run faults -- kill-matrix\`, one cell: \`npm run faults -- kill:<service>:<point>\`.

| Service | ${points.join(' | ')} |
|---|${points.map(() => '---').join('|')}|
${cells.join('\n')}

## What each protection is for

A test that cannot fail proves nothing: with one protection switched off the scenario has to turn red through the named check and the ids it prints.
All of them: \`npm run faults -- --controls\`.

| Protection | What is lost without it | Shown by |
|---|---|---|
${controls.join('\n')}

## What is not promised

${notPromised.map((sentence) => `- ${sentence}`).join('\n')}
`;
}
