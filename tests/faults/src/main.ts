import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { EngineKind } from '@conclave/test-support/system';
import { check } from './checker/check.js';
import { findingsText } from './checker/print.js';
import { readEvidence } from './evidence/store.js';
import { tableOf } from './report/table.js';
import { boundsOf, runControl, runScenario, type Outcome } from './run-scenario.js';
import { scenarioNamed, scenarios } from './scenarios/list.js';

const usage = `npm run faults [-- <name>...] [options]
  <name>                 scenarios to run; all without a name. kill:<service>:<point> is one cell of the kill matrix
  --engine <kind>        embedded or distributed; both unless said otherwise
  --without <protection> switches a protection off: the scenario has to turn red through the checker
  --controls             every protection of the scenarios switched off in turn; each has to turn its check red
  --short                less load and shorter storms, as in CI
  --list                 what there is
  check <folder>         judges the evidence that an earlier run has left
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string' },
    without: { type: 'string' },
    controls: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    ci: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function engines(): readonly EngineKind[] {
  const { engine } = values;
  if (engine === undefined) return ['embedded', 'distributed'];
  if (engine !== 'embedded' && engine !== 'distributed') throw new Error(`--engine is "${engine}"; it must be embedded or distributed.`);
  return [engine];
}

function list(): void {
  for (const { name, engines: on, fault, controls } of scenarios)
    console.log(`${name.padEnd(28)} ${on.join(', ').padEnd(22)} ${fault}${controls.map((one) => ` [--without ${one.without}]`).join('')}`);
}

function judge(folder: string): number {
  const evidence = readEvidence(join(folder, 'evidence.json'));
  const { findings, figures } = check(evidence, boundsOf(scenarioNamed(evidence.scenario), evidence));
  console.log(findingsText(findings));
  console.log(JSON.stringify(figures));
  return findings.length > 0 ? 1 : 0;
}

async function runAll(): Promise<number> {
  const chosen = positionals.length > 0 ? positionals.map(scenarioNamed) : scenarios.filter(({ ci }) => ci || !values.ci);
  const outcomes: Outcome[] = [];
  const short = values.short || values.ci;
  for (const scenario of chosen)
    for (const engine of engines().filter((kind) => scenario.engines.includes(kind))) {
      if (!values.controls) outcomes.push(await runScenario(scenario, engine, { without: values.without ?? null, short }));
      if (values.controls || (values.ci && !values.without))
        for (const control of scenario.controls.filter(({ engines: on }) => (on ?? scenario.engines).includes(engine)))
          outcomes.push(await runControl(control.part ? scenarioNamed(control.part) : scenario, engine, control));
    }
  if (outcomes.length === 0) throw new Error('Nothing was run: no scenario of this choice exists on this engine.');
  console.log(`\n${tableOf(outcomes)}`);
  writeFileSync(join(outcomes[0]!.folder, '../table.json'), JSON.stringify(outcomes, null, 2));
  return outcomes.every(({ red }) => !red) ? 0 : 1;
}

if (values.help) console.log(usage);
else if (values.list) list();
else process.exitCode = positionals[0] === 'check' ? judge(positionals[1] ?? '') : await runAll();
