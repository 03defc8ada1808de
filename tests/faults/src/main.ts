import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { spawn, spawnSync } from 'node:child_process';
import type { Mode } from '@conclave/contracts';
import { stackAddresses, workspaceRoot } from '@conclave/test-support/system';
import { check } from './checker/check.js';
import { findingsText } from './checker/print.js';
import { readEvidence } from './evidence/store.js';
import { record } from './report/recorded.js';
import { redOf, tableOf } from './report/table.js';
import type { ScenarioOutcome } from './judge-control.js';
import { boundsOf, runControl, runScenario } from './run-scenario.js';
import { scenarioNamed, scenarios } from './scenarios/list.js';
import type { Control, Scenario } from './scenarios/scenario.js';

const wanted = 'kafka,redis,neo4j,chroma,searx';

/**
 * The real servers of distributed mode. Running ones are used and left alone; otherwise the local stack is started, and stopped
 * again at the end. Throws if it does not start.
 */
async function useServers(needed: boolean): Promise<void> {
  if (!needed || areUp()) return;
  console.log('Starting Kafka, Redis, Neo4j, Chroma and searx ...');
  const stack = join(workspaceRoot, 'deploy/stack.mjs');
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(process.execPath, [stack, 'up', '--install', '--only', wanted], { stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0 || !areUp()) throw new Error('The servers of distributed mode did not start; --mode embedded needs none.');
  process.once('exit', () => spawnSync(process.execPath, [stack, 'down', '--only', wanted], { stdio: 'inherit', timeout: 60_000 }));
}

function areUp(): boolean {
  try {
    stackAddresses();
    return true;
  } catch {
    // The message says which address is missing: then the stack is not running.
    return false;
  }
}

const usage = `npm run faults [-- <name>...] [options]
  <name>                 scenarios to run; all without a name. kill:<service>:<point> is one cell of the kill matrix
  --mode <mode>          embedded or distributed; both if absent
  --without <protection> switches a protection off: the scenario must turn red through the checker
  --controls             switches every protection of the scenarios off in turn, or only that of --without; each must turn its check red
  --short                less load and shorter storms, as in CI
  --jobs <n>             number of systems at the same time; 1 by default
  --record               stores the results in tests/faults/recorded.json, from which docs/guarantees.md is printed (npm run docs)
  --list                 lists the scenarios
  check <folder>         judges the evidence of an earlier run
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { type: 'string' },
    without: { type: 'string' },
    controls: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '1' },
    ci: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function modes(): readonly Mode[] {
  const { mode } = values;
  if (mode === undefined) return ['embedded', 'distributed'];
  if (mode !== 'embedded' && mode !== 'distributed') throw new Error(`--mode is "${mode}"; it must be embedded or distributed.`);
  return [mode];
}

function list(): void {
  for (const { name, modes: on, fault, controls } of scenarios)
    console.log(`${name.padEnd(28)} ${on.join(', ').padEnd(22)} ${fault}${controls.map((one) => ` [--without ${one.without}]`).join('')}`);
}

function judge(folder: string): number {
  const evidence = readEvidence(join(folder, 'evidence.json'));
  const { findings, figures } = check(evidence, boundsOf(scenarioNamed(evidence.scenario), evidence));
  console.log(findingsText(findings));
  console.log(JSON.stringify(figures));
  return findings.length > 0 ? 1 : 0;
}

/** In CI a protection is switched off in only one mode, the one that starts sooner; `--controls` uses all modes. */
const controlModes = ({ modes: on }: Control, scenario: Scenario): readonly Mode[] => {
  const all = on ?? scenario.modes;
  return values.ci ? [all.includes('embedded') ? 'embedded' : 'distributed'] : all;
};

function jobs(): readonly (() => Promise<ScenarioOutcome>)[] {
  const chosen = positionals.length > 0 ? positionals.map(scenarioNamed) : scenarios.filter(({ ci }) => ci.length > 0 || !values.ci);
  const short = values.short || values.ci;
  const chosenOf = (all: readonly Mode[]) => modes().filter((mode) => all.includes(mode));
  return chosen.flatMap((scenario) => [
    ...(values.controls
      ? []
      : chosenOf(values.ci ? scenario.ci : scenario.modes).flatMap((mode) =>
          (values.ci ? (scenario.ciParts ?? [scenario]) : [scenario]).map(
            (part) => () => runScenario(part, mode, { without: values.without ?? null, short }),
          ),
        )),
    ...(values.controls || (values.ci && values.without === undefined)
      ? scenario.controls
          .filter(({ ci, without }) => (ci !== false || !values.ci) && (values.without ?? without) === without)
          .flatMap((control) =>
            chosenOf(controlModes(control, scenario)).map(
              (mode) => () => runControl(control.part ? scenarioNamed(control.part) : scenario, mode, control),
            ),
          )
      : []),
  ]);
}

async function runAll(): Promise<number> {
  if (values.record && values.without !== undefined)
    throw new Error('--record cannot be combined with --without; --controls records each protection.');
  const waiting = [...jobs()];
  if (waiting.length === 0) throw new Error('Nothing was run: no scenario of this choice exists in this mode.');
  await useServers(modes().includes('distributed'));
  const outcomes: ScenarioOutcome[] = [];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const outcome = await next();
      outcomes.push(outcome);
      if (values.record) record([outcome], new Date());
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs)) }, lane));
  console.log(`\n${tableOf(outcomes)}`);
  // Repeated below the table, because people see the end of a long output first.
  for (const outcome of outcomes) if (outcome.red) console.log(redOf(outcome));
  writeFileSync(join(outcomes[0]!.folder, '../table.json'), JSON.stringify(outcomes, null, 2));
  const red = outcomes.filter((outcome) => outcome.red).length;
  console.log(`${outcomes.length - red} hold, ${red} red`);
  return red === 0 ? 0 : 1;
}

// Ending through `exit` also stops the running systems.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

if (values.help) console.log(usage);
else if (values.list) list();
// Node may spin forever in its own clean-up over connections that a proxy has left half open; ending through `exit` skips that.
else process.exit(positionals[0] === 'check' ? judge(positionals[1] ?? '') : await runAll());
