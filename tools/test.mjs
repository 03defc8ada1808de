// Runs everything this machine can run: `npm test`. One line per suite, one line per part that was left out with the
// reason, and a closing line `N passed, N failed`. With CI=true leaving anything out is a failure.
//   --check            lint, types, printed docs and fast tests only (`npm run check`)
//   --only a,b         only the named suites, e.g. --only fast,int:redis,e2e-embedded
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './ensure-installed.mjs';
import { endAllGroups, runInGroup } from './process-group.mjs';
import { forgetOutcome, projectOutcome } from './results.mjs';
import { startServers } from './servers.mjs';
import { obstacle, suites } from './suites.mjs';
import { workspaceRoot } from './workspace.mjs';

/** The whole run in CI, in seconds; a suite gets what is left of it when that is less than its own limit. */
const wholeLimit = 55 * 60;
const checks = ['lint', 'docs', 'fast', 'simulation'];

const { values } = parseArgs({ options: { check: { type: 'boolean' }, only: { type: 'string' } } });
const strict = ['true', '1'].includes(process.env.CI ?? '');
const logFolder = join(workspaceRoot, '.results');
const started = Date.now();
const totals = { passed: 0, failed: 0 };
/** Set once servers are asked for; whoever ends the run stops what was started. */
let starting;
/** A signal came: nothing more is run or reported. */
let ending = false;

function environmentOf(extra) {
  return {
    ...process.env,
    ...extra,
    NX_DAEMON: 'false',
    NX_TUI: 'false',
    NX_NO_CLOUD: 'true',
    NX_ISOLATE_PLUGINS: 'false',
    NO_COLOR: '1',
    FORCE_COLOR: '0',
  };
}

function report(mark, title, text, seconds) {
  console.log(`${mark} ${title.padEnd(46)} ${text.padEnd(24)} ${seconds.toFixed(1).padStart(6)} s`);
}

function fail(title, reason) {
  totals.failed += 1;
  console.log(`✗ ${title}: ${reason}`);
}

/** Counts what a finished suite left behind. A suite that ended badly is at least one failure. */
function outcomeOf(suite, result) {
  const outcome = { passed: 0, failures: [], skipped: 0 };
  for (const folder of suite.level ? suite.folders : []) {
    const counted = projectOutcome(folder, suite.level);
    outcome.passed += counted.passed;
    outcome.failures.push(...counted.failures);
    outcome.skipped += counted.skipped;
  }
  if (result.timedOut) outcome.failures.push(`Ended after its limit of ${suite.limit} s.`);
  if (strict && outcome.skipped > 0) outcome.failures.push(`${outcome.skipped} tests are skipped.`);
  if (result.code !== 0 && outcome.failures.length === 0) outcome.failures.push(result.output.trim().split('\n').slice(-120).join('\n'));
  return outcome;
}

async function runSuite(suite, environment) {
  for (const folder of suite.level ? suite.folders : []) forgetOutcome(folder, suite.level);
  const left = strict ? wholeLimit - (Date.now() - started) / 1000 : Infinity;
  const result = await runInGroup(process.execPath, suite.args, {
    cwd: join(workspaceRoot, suite.cwd ?? '.'),
    env: environmentOf({ ...environment, ...(suite.projectLimit ? { TEST_LIMIT_S: String(suite.projectLimit) } : {}) }),
    limit: Math.max(1, Math.min(suite.limit, left)),
    yields: suite.computes,
  });
  if (ending) await new Promise(() => undefined);
  writeFileSync(join(logFolder, `${suite.name.replace(':', '-')}.log`), result.output);
  const { passed, failures, skipped } = outcomeOf(suite, result);
  totals.passed += passed;
  totals.failed += failures.length;
  const numbers = suite.level
    ? `${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
    : failures.length > 0
      ? 'failed'
      : 'passed';
  report(failures.length > 0 ? '✗' : '✓', suite.title, numbers, result.seconds);
  for (const failure of failures) console.log(failure.replace(/^/gm, '    '));
}

function chosenSuites() {
  const all = suites();
  const wanted = values.check ? checks : values.only?.split(',');
  const unknown = wanted?.filter((name) => !all.some((suite) => suite.name === name)) ?? [];
  if (unknown.length > 0) {
    console.error(`No such suite: ${unknown.join(', ')}. Known: ${all.map(({ name }) => name).join(', ')}.`);
    process.exit(1);
  }
  return wanted ? all.filter(({ name }) => wanted.includes(name)) : all;
}

async function runAll() {
  const build = await runInGroup(process.execPath, [join(workspaceRoot, 'tools/build.mjs')], {
    cwd: workspaceRoot,
    env: environmentOf({}),
    limit: 120,
  });
  report(build.code === 0 ? '✓' : '✗', 'Build', build.code === 0 ? 'passed' : 'failed', build.seconds);
  if (build.code !== 0) return fail('Build', `\n${build.output}`);

  const chosen = chosenSuites();
  starting = startServers([...new Set(chosen.flatMap((suite) => suite.needs ?? []))]);
  try {
    await takeSuites(chosen);
  } finally {
    await stopServers();
  }
}

/** In their order, one at a time, but for those that run beside others. */
async function takeSuites(chosen) {
  const isBeside = ({ beside }) => chosen.some(({ name }) => name === beside);
  const companions = [];
  let computing;
  const compute = async () => {
    for (const suite of chosen.filter(({ computes }) => computes)) await takeSuite(suite);
  };
  for (const suite of chosen.filter((one) => !one.computes && !isBeside(one))) {
    if (suite.alone) await Promise.all([computing, ...companions]);
    else {
      computing ??= compute();
      companions.push(...chosen.filter(({ beside }) => beside === suite.name).map(takeSuite));
    }
    await takeSuite(suite);
  }
  await Promise.all([computing ?? compute(), ...companions]);
}

/** Runs a suite, or says why not. */
async function takeSuite(suite) {
  // Servers take a while to fetch and start; what needs none does not wait for them.
  const servers = suite.needs?.length > 0 ? await starting : undefined;
  const reason = obstacle(suite, servers?.missing ?? new Map());
  if (!reason) await runSuite(suite, servers?.environment ?? {});
  else if (strict) fail(suite.title, `left out, which CI does not allow: ${reason}`);
  else console.log(`- left out: ${suite.title} (${reason})`);
}

async function stopServers() {
  const { code, output } = (await (await starting)?.stop()) ?? { code: 0 };
  if (code !== 0) fail('Servers', `could not be stopped:\n${output}`);
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.once(signal, async () => {
    console.log(`Ended by ${signal}.`);
    ending = true;
    endAllGroups();
    await stopServers();
    process.exit(code);
  });
}

ensureInstalled();
mkdirSync(logFolder, { recursive: true });
await runAll();
if (totals.passed === 0 && totals.failed === 0) fail('Tests', 'none ran');
console.log(`Took ${Math.round((Date.now() - started) / 1000)} s. What each suite printed is in .results/.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed > 0 ? 1 : 0;
