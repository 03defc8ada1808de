/** Requests of one kind of hop to the state store in distributed mode, with their limit. */
interface CountedKind {
  /** Consumer group and event, as named by `countHops`. */
  readonly hop: string;
  readonly what: string;
  /** Number of requests by command; measured by a test. */
  readonly trips: Readonly<Record<string, number>>;
  /** Limit of requests, without stream appends; null = no limit. */
  readonly atMost: number | null;
}

/** Not limited: their number depends on how much there is to show. */
const apart: readonly string[] = ['append-entries'];

const task = { 'begin-step': 1, 'finish-step': 1 };
const step = { 'write-step': 1 };

/** The table. Update it when the requests of a hop change. */
export const countedKinds: readonly CountedKind[] = [
  {
    hop: 'tasks.expert: expert',
    what: 'a task of an expert, one call',
    trips: { ...task, 'append-entries': 1 },
    atMost: 2,
  },
  { hop: 'tasks.judge: judge.gap', what: 'a verdict, one call', trips: { ...task }, atMost: 2 },
  {
    hop: 'tasks.judge: judge.synthesis',
    what: 'the answer, one call and one chunk',
    trips: { ...task, 'append-entries': 1 },
    atMost: 2,
  },
  { hop: 'planner: PlanRequested', what: 'the first plan', trips: { ...task, 'append-entries': 1 }, atMost: 2 },
  { hop: 'planner: GapDetected', what: 'a plan for a gap', trips: { ...task, 'append-entries': 1 }, atMost: 2 },
  { hop: 'merger: PlanRequested', what: 'the first step of a run', trips: step, atMost: 1 },
  { hop: 'merger: PlanCreated', what: 'a step that takes a plan', trips: step, atMost: 1 },
  { hop: 'merger: ResultReady', what: 'a step that takes a result', trips: step, atMost: 1 },
  {
    hop: 'graph-ingest: RunCompleted',
    what: 'a run that teaches nothing',
    trips: {},
    atMost: null,
  },
];

const sum = (trips: Readonly<Record<string, number>>, names: (name: string) => boolean): number =>
  Object.entries(trips).reduce((total, [name, times]) => (names(name) ? total + times : total), 0);

/** docs/round-trips.md. */
export function roundTripsPage(): string {
  const rows = countedKinds.map(({ hop, what, trips, atMost }) => {
    const counted = sum(trips, (name) => !apart.includes(name));
    const names = Object.entries(trips).map(([name, times]) => (times === 1 ? `\`${name}\`` : `${times} \`${name}\``));
    const target = atMost === null ? '–' : counted > atMost ? `${atMost}, missed` : String(atMost);
    return `| \`${hop}\` | ${what} | ${counted} | ${target} | ${sum(trips, (name) => apart.includes(name))} | ${names.join(', ')} |`;
  });
  return `# Round trips to Redis

<!-- Printed from bench/src/round-trips/table.ts; \`npx jest bench round-trips.int\` measures and compares, \`npm run docs\` prints. -->

These are the requests of one hop of a run to Redis in distributed mode, from the delivery of a record until it is finished. A real server
reports its requests (\`MONITOR\`) while the committee of the benchmarks takes its second run through all services, one record at a time. The test
fails if a hop makes any other request than those listed here, so a count can rise only together with this table.

The column "Apart" contains the appends to the run stream, whose number depends on the text and progress to show. No request of a hop waits for one: lines that
announce a call are sent beside it, those about its reply beside \`finish-step\`, and lines of one turn of the event loop are one append (as here, where models
answer at once). A result is published when all its lines are stored. Two kinds of requests are not counted: those for slots of a provider (two
round trips if a process has none; a freed slot is kept for half a second: \`jest libs/calls provider-slot\`), and those that depend on the clock and not
on the load: leases, due timers, sweeps, and reading a provider's circuit breaker at most once a second.

| Hop | What it is | Round trips | At most | Apart | Which |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}
