import type { ProbePoint } from '@conclave/platform';
import type { Supervised } from '@conclave/test-support';
import type { Mode } from '@conclave/contracts';
import type { ServiceName } from '@conclave/test-support/system';
import type { World } from '../world/world.js';
import type { Cell } from './kill-matrix-cell.js';
import { changePrompt, learnedBehind, portCells, portSystem, toolsOffered, toolTemplate } from './port-cells.js';
import type { Scenario } from './scenario.js';

/** The named points, in the order in which a record passes them. */
export const points = [
  'after-poll',
  'before-call',
  'mid-stream',
  'after-call',
  'after-publish',
  'after-commit',
] as const satisfies readonly ProbePoint[];
type Point = (typeof points)[number];
export const services = ['gateway', 'planner', 'experts', 'merger', 'graph-ingest'] as const satisfies readonly ServiceName[];

const readsNothing = 'the gateway reads no records';
/** Cells that do not exist, with the reason. */
export const absent: Readonly<Partial<Record<ServiceName, Partial<Record<Point, string>>>>> = {
  gateway: {
    'after-poll': readsNothing,
    'before-call': 'the call of a pass-through belongs to no run',
    'after-call': 'the call of a pass-through belongs to no run',
    'after-commit': readsNothing,
  },
};

/** After a reply that has its place in the order but is not durable yet: the next step may follow from it, and this death loses both. */
const orderedCells: readonly Cell[] = (['planner', 'experts', 'merger'] as const).map((service) => ({ service, point: 'reply-ordered' }));

/** Further points of single services, in addition to the six. */
export const further: readonly Cell[] = [
  { service: 'gateway', point: 'after-accept' },
  ...orderedCells,
  { service: 'merger', point: 'engine-committed' },
  { service: 'merger', point: 'timer-due' },
  { service: 'merger', point: 'timer-published' },
  ...portCells,
];
export const cells: readonly Cell[] = [
  ...services.flatMap((service) => points.flatMap((point) => (absent[service]?.[point] ? [] : [{ service, point }]))),
  ...further,
];
/** Whether a run of the cell must be open when the process dies; otherwise the record being handled is the work in flight. */
export const demandsOpenRuns = ({ service, point }: Cell): boolean =>
  point !== 'after-commit' && service !== 'graph-ingest' && !learnedBehind(point);
export const cellName = ({ service, point }: Cell): string => `kill:${service}:${point}`;

/** Why a cell does not exist in a mode; null if it does. */
export const absentOn = ({ point }: Cell, mode: Mode): string | null =>
  point === 'reply-ordered' && mode === 'distributed' ? 'a write is durable there when it is answered' : null;
const modesOf = (cell: Cell): Scenario['modes'] => (['embedded', 'distributed'] as const).filter((mode) => absentOn(cell, mode) === null);

const openEnd = 'a run has not ended';

/** Kills one process at one point while three runs are under way, and waits for the end of all three. */
async function kill(world: World, { service, point }: Cell): Promise<void> {
  const { system, load } = world;
  const process = system.process(service);
  // Late timers and memory reach these processes after the end of a run: they would be killed before any work of this cell is in flight.
  const hasLateWork = service === 'merger' || service === 'graph-ingest';
  if (hasLateWork && !(await world.calm())) throw new Error(`${cellName({ service, point })}: the work before it did not end.`);
  await process.stop();
  const deaths = process.exits().length;
  const began = Date.now();
  await process.restart({ CRASH_AT: `${service}:${point}` });
  const late = point.startsWith('timer-');
  if (point === 'tool-called') await toolsOffered(world);
  // A setting is changed while runs are under way.
  if (point === 'setting-written') world.behave({ delayMs: { planner: 3_000 } });
  // A timer becomes due only if a run is kept waiting: here by a planner that never answers.
  if (late) world.behave({ instead: (role, question) => (role === 'planner' && question.includes(point) ? { hang: true } : null) });
  if (point === 'timer-due') process.nextRestart({ CRASH_AT: `${service}:${point}` });
  const asking = load.run({
    runs: late ? 1 : 3,
    atOnce: 3,
    name: `${service}-${point}`,
    patienceMs: world.controlled ? 20_000 : 60_000,
    // Counted from the request: a process that has just started took 2.6 s for its first one beside other systems.
    ...(late ? { wallTimeS: 8 } : {}),
    // The one model call of this service comes after a run has ended, and so do its writes.
    learned: service === 'graph-ingest' || learnedBehind(point),
    ...(point === 'tool-called' ? { model: toolTemplate } : {}),
  });
  // The next gateway answers it, when the runs may have ended: whether work is in flight is checked when the process dies.
  const changed = Promise.allSettled(point === 'setting-written' ? [changePrompt(world)] : []);
  const exit = await process.nextExit(deaths + 1, 30_000);
  const at = world.fault(`SIGKILL of ${service} at ${point}`, cellName({ service, point }));
  // Written before the process died. Work that it had finished may end a run before its death is noticed here.
  const crash = system.history().find((line) => line.phase === 'crash' && line.actor === service && line.op === point && line.at >= began);
  const diedAt = crash?.at ?? at;
  const inFlight = load.asked.filter(
    ({ runId, question }) => question.includes(`${service}-${point}`) && (runId === null || (load.ended.get(runId) ?? Infinity) >= diedAt),
  );
  // Each timer of a run backs up the one before it, so all of them must become due in a process that dies at that moment.
  if (point === 'timer-due') await dieAgain(process, deaths + 1, `${service}:${point}`, world.controlled);
  await process.ready();
  for (const change of await changed) if (change.status === 'rejected') throw change.reason;
  const asked = await asking;
  // Without its protection the planner stays silent, so that only a timer could end the run; it names the question, so no later cell is kept.
  if (!(late && world.controlled)) world.behave({});
  const runs = asked.flatMap(({ runId }) => (runId === null ? [] : [runId]));
  const last = Math.max(0, ...runs.map((runId) => load.ended.get(runId) ?? Infinity));
  const faults = [
    ...(exit.signal === 'SIGKILL' && crash ? [] : [`it did not kill itself there (${exit.signal ?? exit.code})`]),
    // Memory is written after the end of a run: there the record being handled is the work, which the checker examines afterwards.
    ...(inFlight.length > 0 || !demandsOpenRuns({ service, point }) ? [] : ['no work was in flight']),
    ...(Number.isFinite(last) ? [] : [openEnd]),
  ];
  world.row({
    name: cellName({ service, point }),
    outcome: faults.length === 0 ? 'survived' : faults.join('; '),
    recoveryMs: Number.isFinite(last) ? Math.max(0, last - at) : null,
    runs,
    openRuns: inFlight.length,
  });
  // Without its protection a run may have no end, which the checker must find.
  const broken = world.controlled ? faults.filter((fault) => fault !== openEnd) : faults;
  if (broken.length > 0) throw new Error(`${cellName({ service, point })}: ${broken.join('; ')}.`);
}

/** Lets the process die twice more, while there is a timer left. If no timer may be lost, there always is one. */
async function dieAgain(process: Supervised, deaths: number, at: string, mayBeLost: boolean): Promise<void> {
  for (const death of [1, 2]) {
    process.nextRestart({ CRASH_AT: death === 1 ? at : undefined });
    const exit = await process.nextExit(deaths + death, 25_000).catch((error: unknown) => {
      if (mayBeLost) return null;
      throw error;
    });
    if (exit === null) return;
  }
}

/**
 * The cells of one mode, one after the other in one system: the process that died at a point is restarted with the order to die at the next
 * point, so that a cell costs one start. Between two cells everything has ended.
 */
async function matrix(world: World, wanted: readonly Cell[]): Promise<void> {
  await world.warmUp();
  const here = wanted.filter((cell) => modesOf(cell).includes(world.mode));
  for (const service of services) {
    for (const cell of here.filter((one) => one.service === service)) await kill(world, cell);
  }
}

const describe = {
  promise: 'The death of any process at any point loses no accepted run and repeats no finished model call.',
  fault: 'kill -9 at a named point',
};

/** The longest part comes first, so that parts that run side by side finish sooner. */
const matrixParts: readonly Scenario[] = ([['merger'], ['experts'], ['gateway', 'planner', 'graph-ingest']] as const).map((of) => ({
  name: `kill-matrix:${of.join('+')}`,
  ...describe,
  modes: ['embedded', 'distributed'],
  controls: [],
  limitS: 400,
  ci: [],
  system: portSystem,
  run: (world) =>
    matrix(
      world,
      cells.filter(({ service }) => of.some((one) => one === service)),
    ),
}));

/** The whole matrix, and each cell alone by its name. */
export const killMatrix: Scenario = {
  name: 'kill-matrix',
  ...describe,
  modes: ['embedded', 'distributed'],
  controls: [
    { without: 'offset-tracker', check: 'commit-after-effect', part: 'kill:experts:before-call' },
    { without: 'journal', check: 'model-calls-bounded', part: 'kill:experts:after-call' },
    { without: 'timer-events', check: 'one-terminal-event', says: 'no terminal event', part: 'kill:merger:timer-due' },
    { without: 'sweep', check: 'one-terminal-event', says: 'no terminal event', part: 'kill:gateway:after-accept' },
  ],
  limitS: 600,
  ci: ['embedded', 'distributed'],
  ciParts: matrixParts,
  system: portSystem,
  run: (world) => matrix(world, cells),
};
export const killCell = (cell: Cell): Scenario => ({
  ...killMatrix,
  ciParts: [],
  modes: modesOf(cell),
  name: cellName(cell),
  controls: [],
  // Of the four runs of a cell with a timer, one runs out of time.
  bounds: { answered: 0.7, terminalMs: 40_000 },
  fault: `kill -9 of ${cell.service} at ${cell.point}`,
  limitS: 180,
  ci: [],
  run: (world) => matrix(world, [cell]),
});
