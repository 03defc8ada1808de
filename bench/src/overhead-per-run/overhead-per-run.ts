import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { workspaceRoot } from '@conclave/test-support/system';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { callsPerRun, shippedCallsPerRun } from '../committee/replies.js';
import { interleave } from '../measuring/interleave.js';
import type { Finding, Report, Table } from '../measuring/report.js';
import { ratios, spread } from '../measuring/statistics.js';
import { Closing } from '../processes/closing.js';
import { installPackages } from '../processes/install-packages.js';
import { Scratch } from '../processes/scratch.js';
import { Worker } from '../processes/worker.js';
import type { RoundOrder, RoundResult } from './measured-round.js';

const folder = join(workspaceRoot, 'bench/langgraph');
const langGraphWorker = pathToFileURL(join(folder, 'worker.mjs'));

const isInstalled = (): boolean =>
  existsSync(join(folder, 'node_modules/@langchain/langgraph/package.json')) &&
  existsSync(join(folder, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'));

/** Installs LangGraph.js if missing. Returns null when it is installed, otherwise a sentence why not. */
async function ensureLangGraph(options: {
  readonly mayInstall: boolean;
  readonly progress: (text: string) => void;
}): Promise<string | null> {
  return installPackages({
    name: 'LangGraph.js',
    folder,
    isInstalled,
    note: '; a native module is compiled, which takes some minutes',
    ...options,
  });
}

interface Side {
  readonly name: string;
  readonly worker: Worker;
}

const ours = 'Conclave embedded';
const other = 'Conclave embedded, the other checkout';
const bare = 'no engine, nothing stored';
const durable = 'LangGraph.js SQLite, sync';
const durableLater = 'LangGraph.js SQLite, async';
const inMemory = 'LangGraph.js in memory';

const orders = (quick: boolean): readonly RoundOrder[] =>
  quick
    ? [
        { runs: 2, concurrency: 1 },
        { runs: 8, concurrency: 8 },
      ]
    : [
        { runs: 24, concurrency: 1 },
        { runs: 128, concurrency: 32 },
      ];

const script = (path: string): URL => new URL(path, import.meta.url);

/** A measured committee: its template, calls per run and target. */
interface Subject {
  readonly id: string;
  readonly title: string;
  /** Argument of the workers; empty for the bare template. */
  readonly template: '' | 'shipped';
  readonly calls: number;
  readonly definition: string;
  readonly targets: { readonly durable: number; readonly inMemory: number | null };
}

async function startSides(
  { template }: Subject,
  options: BenchmarkOptions,
  scratch: Scratch,
  closing: Closing,
): Promise<{ sides: readonly Side[]; missing: string | null }> {
  const start = async (name: string, path: URL, args: readonly string[], profile?: string): Promise<Side> => {
    const worker = await Worker.start({ name, script: path, args, ...(profile ? { profile } : {}) });
    closing.add(() => worker.close());
    return { name, worker };
  };
  // Instant models replace its models; naming a provider prevents discovery of servers.
  const home = scratch.home('conclave', { providers: { bench: { base_url: 'http://127.0.0.1:9/v1', paid: false } } });
  const sides = [
    await start(ours, script('./conclave-worker.js'), [home, template], options.profile),
    await start(bare, script('./bare-worker.js'), [template]),
  ];
  if (options.against !== undefined) {
    const built = pathToFileURL(join(options.against, 'dist/conclave-worker.js'));
    sides.push(
      await start(other, built, [
        scratch.home('other', { providers: { bench: { base_url: 'http://127.0.0.1:9/v1', paid: false } } }),
        template,
      ]),
    );
  }
  const missing = await ensureLangGraph({ mayInstall: !options.quick, progress: options.progress });
  if (missing === null) {
    sides.push(await start(durable, langGraphWorker, ['sqlite', join(scratch.folder, 'langgraph-sync.db'), 'sync', template]));
    sides.push(await start(durableLater, langGraphWorker, ['sqlite', join(scratch.folder, 'langgraph-async.db'), 'async', template]));
    sides.push(await start(inMemory, langGraphWorker, ['memory', '', '', template]));
  }
  return { sides, missing };
}

async function measure({ name, worker }: Side, order: RoundOrder, calls: number): Promise<RoundResult> {
  const result = await worker.call<RoundResult>('round', order);
  const expected = order.runs * calls;
  if (result.calls !== expected) throw new Error(`${name} made ${result.calls} model calls instead of ${expected}.`);
  return result;
}

const runsPerSecond = ({ runMs, wallMs }: RoundResult): number => (runMs.length / wallMs) * 1_000;
const perRun = ({ runMs, wallMs }: RoundResult): number => wallMs / runMs.length;
const cpuPerRun = ({ runMs, cpuMs }: RoundResult): number => cpuMs / runMs.length;

function tableOf(order: RoundOrder, results: ReadonlyMap<string, readonly RoundResult[]>): Table {
  return {
    title: `${order.concurrency} at a time, ${order.runs} runs a round:`,
    columns: ['side', 'runs/s', 'ms of time per run', 'ms of processor per run'],
    rows: [...results].map(([name, rounds]) => [
      name,
      spread(rounds.map(runsPerSecond)),
      spread(rounds.map(perRun)),
      spread(rounds.map(cpuPerRun)),
    ]),
  };
}

function findingsOf(
  order: RoundOrder,
  results: ReadonlyMap<string, readonly RoundResult[]>,
  targets: Subject['targets'],
): readonly Finding[] {
  const mine = results.get(ours)!;
  const against = (reference: string, target: Finding['target']): Finding[] => {
    const theirs = results.get(reference);
    if (!theirs) return [];
    const value = spread(ratios(mine.map(runsPerSecond), theirs.map(runsPerSecond)));
    return [{ what: `runs/s, ${order.concurrency} at a time`, reference, value, unit: 'x', target }];
  };
  const others = results.get(other);
  const compared: readonly Finding[] = others
    ? [
        {
          what: `processor time per run, ${order.concurrency} at a time`,
          reference: other,
          value: spread(mine.map(cpuPerRun)),
          unit: 'ms',
          ratio: spread(ratios(mine.map(cpuPerRun), others.map(cpuPerRun))),
          target: null,
        },
      ]
    : [];
  const overhead = mine.map((round, index) => perRun(round) - perRun(results.get(bare)![index]!));
  return [
    ...compared,
    ...against(durable, { atLeast: targets.durable }),
    ...against(durableLater, null),
    ...against(inMemory, targets.inMemory === null ? null : { atLeast: targets.inMemory }),
    {
      what: `overhead per run, ${order.concurrency} at a time`,
      reference: bare,
      value: spread(overhead),
      unit: 'ms',
      ratio: spread(ratios(mine.map(perRun), results.get(bare)!.map(perRun))),
      target: null,
    },
  ];
}

const benchmarkOf = (subject: Subject): Benchmark => ({
  id: subject.id,
  title: subject.title,
  obstacle: async () => null,
  async run(options): Promise<Report> {
    const { quick, progress, rounds = quick ? 1 : 9 } = options;
    const closing = new Closing();
    const scratch = new Scratch();
    closing.add(() => scratch.remove());
    try {
      const { sides, missing } = await startSides(subject, options, scratch, closing);
      const facts: string[] = [];
      for (const { name, worker } of sides) facts.push(`${name}: ${(await worker.call<string[]>('facts')).join('; ')}.`);
      const tables: Table[] = [];
      const findings: Finding[] = [];
      for (const order of orders(quick)) {
        const subjects = sides.map((side) => ({ name: side.name, measure: () => measure(side, order, subject.calls) }));
        const results = await interleave(subjects, rounds, (text) => progress(`${order.concurrency} at a time, ${text}`));
        tables.push(tableOf(order, results));
        findings.push(...findingsOf(order, results, subject.targets));
      }
      return {
        definition: [
          subject.definition,
          'The model is a function inside each process that answers at once, the same code on all sides, as are prompts and parsers.',
          'A run lasts from its acceptance to its terminal entry in the run stream (Conclave), or from invoke to its end (LangGraph.js).',
          'Each side is a separate process; only one of them works at a time. Overhead = time per run minus that of no engine.',
          ...facts,
        ],
        tables,
        findings,
        notes: missing === null ? [] : [`${missing} The figures stand without that reference, and its targets are not judged.`],
      };
    } finally {
      await closing.run();
    }
  },
});

export const overheadPerRun = benchmarkOf({
  id: 'B2',
  title: 'what the engine adds to an agentic run, embedded',
  template: '',
  calls: callsPerRun,
  definition: `An agentic run: plan, 4 experts, gap check, re-plan, 4 experts, gap check, answer: ${callsPerRun} model calls.`,
  targets: { durable: 3, inMemory: 1 },
});

/** The shipped template has more steps, so its target is lower. */
export const overheadOfShippedTemplate = benchmarkOf({
  id: 'B2b',
  title: 'the same with what the shipped template `conclave` does: second tier, refinement, thinking step',
  template: 'shipped',
  calls: shippedCallsPerRun,
  definition:
    'An agentic run of two rounds: plan, 4 experts, 4 experts of the second tier, gap check; then hints for the one unsure expert, its second try, ' +
    `scores, the thinking step, the answer: ${shippedCallsPerRun} model calls.`,
  targets: { durable: 2, inMemory: null },
});
