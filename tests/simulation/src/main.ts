import { aimAt, Coverage, keyOf, targetOf } from './faults/crash-points.js';
import { plantedBugs } from './planted/all.js';
import { simulate, type SimulationResult } from './simulate.js';

const usage = `Usage: npm run simulate -- --seed N [--at "<service> <point> <side>"] [--bug <name>] [--quiet]   replays one seed with its trace
       npm run simulate -- --seeds N [--from M] [--bug <name>]   runs seeds M to M + N - 1
Bugs: ${plantedBugs.map(({ name }) => name).join(', ')}
`;

interface Wishes {
  readonly seed: number | null;
  readonly seeds: number;
  readonly from: number;
  readonly at: string | null;
  readonly bug: string | null;
  readonly quiet: boolean;
}

function readArguments(given: readonly string[]): Wishes | null {
  const value = (name: string): string | null => {
    const at = given.indexOf(`--${name}`);
    return at < 0 ? null : (given[at + 1] ?? '');
  };
  const number = (name: string, otherwise: number): number => Number(value(name) ?? otherwise);
  const seed = value('seed');
  const wishes: Wishes = {
    seed: seed === null ? null : Number(seed),
    seeds: number('seeds', 200),
    from: number('from', 0),
    at: value('at'),
    bug: value('bug'),
    quiet: given.includes('--quiet'),
  };
  const numbers = [wishes.seed ?? 0, wishes.seeds, wishes.from];
  const isKnownBug = wishes.bug === null || plantedBugs.some(({ name }) => name === wishes.bug);
  const isKnownPoint = wishes.at === null || aimAt(wishes.at) !== null;
  return isKnownPoint && numbers.every((n) => Number.isSafeInteger(n) && n >= 0) && isKnownBug && given.length > 0 ? wishes : null;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(given: readonly string[]): Promise<number> {
  const wishes = readArguments(given);
  if (!wishes) {
    process.stderr.write(usage);
    return 2;
  }
  const { seed, seeds, from, at, bug, quiet } = wishes;
  const targetFor = (n: number) => (at === null ? targetOf(n) : aimAt(at));
  const planted = plantedBugs.find(({ name }) => name === bug);
  if (planted) say(`With a planted bug: ${planted.sentence}`);
  const one = (n: number, more: { line?: (line: string) => void; coverage?: Coverage }) =>
    simulate({
      seed: n,
      target: targetFor(n),
      ...(planted ? { planted: planted.plant() } : {}),
      ...(more.line ? { line: more.line } : {}),
      ...(more.coverage ? { cover: more.coverage.note } : {}),
    });
  if (seed !== null) {
    const target = targetFor(seed);
    say(`seed ${seed}, ${target ? `killed the ${target.nth}. time at ${keyOf(target)}` : 'no chosen crash point'}`);
    const result = await one(seed, quiet ? {} : { line: say });
    tell(result);
    return result.violations.length > 0 ? 1 : 0;
  }
  const coverage = new Coverage();
  const began = process.hrtime.bigint();
  const cpu = process.cpuUsage();
  let failed = 0;
  const sums = { accepted: 0, answered: 0, deaths: 0, calls: 0, repeated: 0, superseded: 0, rated: 0, deleted: 0, directed: 0, strange: 0 };
  for (let n = from; n < from + seeds; n += 1) {
    const result = await one(n, { coverage });
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += result[name];
    if ((n - from) % 100 === 99) process.stderr.write(`${n - from + 1} seeds, ${failed} failed\n`);
    if (result.violations.length === 0) continue;
    failed += 1;
    tell(result);
  }
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  const used = process.cpuUsage(cpu);
  say(
    `${seeds} seeds in ${seconds.toFixed(1)} s (${((used.user + used.system) / 1e6).toFixed(1)} s of one core), ${failed} failed; ${JSON.stringify(sums)}`,
  );
  say(coverage.report());
  if (coverage.missed().length > 0) say(`never killed at: ${coverage.missed().join(', ')}`);
  if (coverage.undeclared().length > 0) say(`not in the table: ${coverage.undeclared().join(', ')}`);
  return failed > 0 ? 1 : 0;
}

function tell({ seed, violations, ...rest }: SimulationResult): void {
  say(`seed ${seed}: ${violations.length === 0 ? 'every check holds' : `${violations.length} violations`}; ${JSON.stringify(rest)}`);
  for (const { check, id, sentence } of violations) say(`  ${check}: ${id} ${sentence}`);
  if (violations.length > 0) say(`  replay: npm run simulate -- --seed ${seed}`);
}

process.exitCode = await main(process.argv.slice(2));
