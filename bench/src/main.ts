import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { benchmarks } from './benchmarks.js';
import type { Benchmark, BenchmarkOptions } from './benchmark.js';
import { misses, printReport, type Report } from './measuring/report.js';

const gibibyte = 1024 ** 3;

/** Describes the machine in one line, without the host name. */
function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = (totalmem() / gibibyte).toFixed(1);
  return `${availableParallelism()} cores (${model}), ${memory} GiB memory, ${process.platform} ${process.arch}, Node ${process.version}`;
}

/** Load average of the last minute before the start: above the number of cores, others are using the machine. */
const describeLoad = (): string => `load average ${loadavg()[0]!.toFixed(2)} at the start`;

const help = `npm run bench -- <benchmark>... [options]

${benchmarks.map(({ id, title }) => `  ${id.padEnd(5)}${title}`).join('\n')}
  all  every one of them

  --rounds <n>       measured rounds, after one that warms up
  --quick            few and small rounds: shows that it works, the figures say little
  --embedded         leaves out what needs Kafka and Redis
  --judge            code 1 where a target is missed
  --against <folder> B2, B3: another built checkout of Conclave, measured in turn with this one
  --profile <folder> CPU profiles of the processes under test (.cpuprofile)
`;

/** Exit code 1: a benchmark failed or could not run, or, with --judge, missed a target. 2: wrong usage. */
async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      embedded: { type: 'boolean', default: false },
      judge: { type: 'boolean', default: false },
      profile: { type: 'string' },
      against: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const known = (id: string): string => benchmarks.find((one) => one.id.toUpperCase() === id.toUpperCase())?.id ?? id.toUpperCase();
  const wanted = positionals.map(known);
  const chosen = wanted.includes('ALL') ? benchmarks : benchmarks.filter(({ id }) => wanted.includes(id));
  const unknown = wanted.filter((id) => id !== 'ALL' && !benchmarks.some((benchmark) => benchmark.id === id));
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (values.help || chosen.length === 0 || unknown.length > 0 || (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))) {
    if (unknown.length > 0) process.stderr.write(`There is no benchmark ${unknown.join(', ')}.\n\n`);
    process.stdout.write(help);
    return values.help ? 0 : 2;
  }
  if (values.profile !== undefined) mkdirSync(values.profile, { recursive: true });
  const options: BenchmarkOptions = {
    quick: values.quick,
    embedded: values.embedded,
    ...(rounds === undefined ? {} : { rounds }),
    ...(values.profile === undefined ? {} : { profile: resolve(values.profile) }),
    ...(values.against === undefined ? {} : { against: resolve(values.against) }),
    progress: (text) => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${text}`)),
  };
  let broken = 0;
  const missed: string[] = [];
  for (const benchmark of chosen) {
    const report = await runOne(benchmark, options);
    if (report === null) broken += 1;
    else if (values.judge) missed.push(...misses(report).map((miss) => `${benchmark.id}: ${miss}`));
  }
  if (values.judge) console.log(missed.length > 0 ? `\nMissed:\n  ${missed.join('\n  ')}` : '\nNo target was missed.');
  return broken + missed.length > 0 ? 1 : 0;
}

/** Prints and returns the report; null when the benchmark failed or could not run. */
async function runOne(benchmark: Benchmark, options: BenchmarkOptions): Promise<Report | null> {
  console.log(`\n${benchmark.id}: ${benchmark.title}`);
  const obstacle = await benchmark.obstacle();
  if (obstacle !== null) {
    console.log(`  Not measured: ${obstacle}`);
    return null;
  }
  console.log(`  Machine: ${describeMachine()}; ${describeLoad()}`);
  const began = performance.now();
  try {
    const report = await benchmark.run(options);
    options.progress('');
    console.log(printReport(report));
    if (options.quick) console.log('\nNote: --quick; so few and small rounds show that it works, not how fast it is.');
    console.log(`\n${benchmark.id} took ${((performance.now() - began) / 1_000).toFixed(0)} s.`);
    return report;
  } catch (error) {
    options.progress('');
    console.log(`  Broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return null;
  }
}

// An orderly exit ends all started processes; a signal alone would leave those in other process groups running.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')) throw error;
  process.stderr.write(`${(error as Error).message}\n\n${help}`);
  process.exitCode = 2;
}
