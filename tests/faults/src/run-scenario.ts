import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from '@conclave/test-support/system';
import type { Mode } from '@conclave/contracts';
import { check } from './checker/check.js';
import { findingsText } from './checker/print.js';
import { redOf } from './report/table.js';
import { defaultBounds, type Bounds, type Evidence } from './evidence/evidence.js';
import { writeEvidence } from './evidence/store.js';
import { judgeControl, twiceAtMost, type ScenarioOutcome } from './judge-control.js';
import type { Afterwards, Control, Scenario } from './scenarios/scenario.js';
import { collect, waitForBound } from './world/collect.js';
import { World } from './world/world.js';

export interface RunOptions {
  readonly without: string | null;
  readonly short: boolean;
  /** The expected finding is a run without an end, so the time limit of each run is awaited. */
  readonly waitsForBound?: boolean;
}

/** How many times as long a scenario may take as its limit says: machines three times as slow as the usual one were seen. */
const slowest = 3;

/** Starts a system, runs the scenario on it, collects the evidence, and calls the checker. Never throws. */
export async function runScenario(scenario: Scenario, mode: Mode, { without, short, waitsForBound }: RunOptions): Promise<ScenarioOutcome> {
  const folder = join(
    workspaceRoot,
    '.results/faults',
    [scenario.name.replaceAll(':', '-'), mode, ...(without ? [`without-${without}`] : [])].join('-'),
  );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const bounds: Bounds = { ...defaultBounds, ...scenario.bounds };
  const began = performance.now();
  let world: World | null = null;
  let evidence: Evidence | null = null;
  let error: string | null = null;
  let afterwards: Afterwards | null = null;
  try {
    await within(scenario.limitS * slowest * 1000, async () => {
      world = await World.start(mode, scenario.system ?? {}, without, short);
      try {
        afterwards = (await scenario.run(world)) ?? null;
      } catch (thrown) {
        error = thrown instanceof Error ? thrown.message : String(thrown);
      }
      if (waitsForBound) await waitForBound(world, bounds.terminalMs);
      evidence = await collect(world, scenario.name, bounds, afterwards);
    });
  } catch (thrown) {
    error = [error, thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)].filter(Boolean).join('; ');
  }
  const ended = world as World | null;
  if (ended) writeFileSync(join(folder, 'output.txt'), ended.system.output());
  await ended?.stop().catch((thrown: unknown) => (error = [error, `could not be stopped: ${String(thrown)}`].filter(Boolean).join('; ')));
  const verdict = evidence ? check(evidence, boundsOf(scenario, evidence)) : { findings: [], figures: null };
  if (evidence) writeEvidence(join(folder, 'evidence.json'), evidence);
  writeFileSync(join(folder, 'findings.txt'), findingsText(verdict.findings));
  const red = error !== null || verdict.findings.length > 0;
  const rows = ended?.rows ?? [];
  const recoveries = rows.flatMap(({ recoveryMs }) => (recoveryMs === null ? [] : [recoveryMs]));
  const outcome: ScenarioOutcome = {
    scenario: scenario.name,
    mode,
    without,
    short,
    red,
    summary: red ? [...new Set([...(error ? [error] : []), ...verdict.findings.map((one) => one.check)])].join('; ') : 'holds',
    findings: verdict.findings,
    error,
    rows,
    recoveryMs: recoveries.length > 0 ? Math.max(...recoveries) : null,
    figures: verdict.figures,
    seconds: (performance.now() - began) / 1000,
    folder,
  };
  console.log(
    `${scenario.name} ${mode}${without ? ` without ${without}` : ''}: ${red ? 'RED' : 'holds'} (${outcome.seconds.toFixed(0)} s)`,
  );
  if (red) console.log([error, findingsText(verdict.findings)].filter(Boolean).join('\n').replace(/^/gm, '    '));
  return outcome;
}

/** Runs a scenario with one protection off, twice at most: it must fail through the named check with ids, not by its own error. */
export async function runControl(scenario: Scenario, mode: Mode, control: Control): Promise<ScenarioOutcome> {
  const { without, check: wanted } = control;
  return twiceAtMost(
    async () =>
      judgeControl(await runScenario(scenario, mode, { without, short: true, waitsForBound: wanted === 'one-terminal-event' }), control),
    (first) => {
      const kept = `${first.folder}-first-try`;
      rmSync(kept, { recursive: true, force: true });
      renameSync(first.folder, kept);
      console.log(`${redOf(first)}\n  It is tried once more.`);
    },
  );
}

/** Limits of a scenario, with the runs that it reports as ended by itself. */
export function boundsOf({ bounds = {} }: Pick<Scenario, 'bounds'>, { mayFail }: Evidence): Bounds {
  const all = { ...defaultBounds, ...bounds };
  return { ...all, mayFail: [...all.mayFail, ...mayFail] };
}

async function within(ms: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`It was not over after ${ms / 1000} s.`));
    }, ms);
  });
  try {
    await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
