/** What one kind of hop asks of the state store in the distributed engine, and what it is to ask at most. */
interface CountedKind {
  /** Consumer group and what it takes, as `countHops` names it. */
  readonly hop: string;
  readonly what: string;
  /** Commands and how often, by name: a test measures them. */
  readonly trips: Readonly<Record<string, number>>;
  /** What `atMost` leaves out: what is apart for every line of progress, chunk of text and slot. */
  readonly atMost: number | null;
}

/** Of these there are as many as there is to show, or none where the process holds what it needs. */
const apart: readonly string[] = ['append-entries', 'acquire-slot', 'release-slot'];

const task = {
  'is-started': 1,
  'find-cancelled': 2,
  'begin-step': 1,
  'acquire-slot': 1,
  'release-slot': 1,
  publish: 1,
  'finish-step': 1,
};
const step = { 'write-step': 1 };

/** The table: whoever changes what a hop asks changes it here. */
export const countedKinds: readonly CountedKind[] = [
  {
    hop: 'tasks.expert: expert',
    what: 'a task of an expert, one call',
    trips: { ...task, 'append-entries': 2 },
    atMost: 2,
  },
  { hop: 'tasks.judge: judge.gap', what: 'a verdict, one call', trips: { ...task }, atMost: 2 },
  {
    hop: 'tasks.judge: judge.synthesis',
    what: 'the answer, one call and one chunk',
    trips: { ...task, 'append-entries': 3 },
    atMost: 2,
  },
  { hop: 'planner: PlanRequested', what: 'the first plan', trips: { ...task, 'read-run': 1, 'append-entries': 2 }, atMost: 5 },
  { hop: 'planner: GapDetected', what: 'a plan for a gap', trips: { ...task, 'read-header': 1, 'append-entries': 2 }, atMost: 5 },
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

What one hop of a run asks of Redis in the distributed engine, from the delivery of a record to the moment in which it is finished. A real server tells
what it was asked (\`MONITOR\`) while the committee of the benchmarks takes a run through all services, one record at a time, its second run. The test
fails where a hop asks anything else than what stands here, so that a count rises only together with this table.

Apart stand appends to the run stream (as many as there is text and progress to show) and slots of a provider (none where the process holds one). Not
counted is what goes by the clock, whatever the load: leases, due timers, sweeps, and a look at a provider's circuit breaker at most once a second.

| Hop | What it is | Round trips | At most | Apart | Which |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}
