// Runs the core of the tests, as far as this machine can: `npm test`. Prints one line per suite, one line with the reason per skipped part,
// and a closing line `N passed, N failed`. With CI=true, skipping anything is a failure.
// Options: see `usage`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './ensure-installed.mjs';
import { runJest } from '../tests/support/jest/run.mjs';
import { endAllGroups, runInGroup } from '../tests/support/jest/process-group.mjs';
import { startServers } from '../deploy/stack/test-servers.mjs';
import { faultSuites, suites, surfaceSuites } from '../tests/support/jest/suites.mjs';
import { workspaceRoot } from './workspace.mjs';

const usage = `npm test runs the core of the tests.
  --check            only lint, types, printed docs, the tests that need no servers, and the simulation (npm run check)
  --faults           kills, freezes and cut connections instead (npm run test:faults)
  --surface          what is visible from outside instead, such as third-party clients (npm run test:surface)
  --only a,b         only the named suites of all three, e.g. --only fast,int:redis,console`;
const values = chosenOptions();
/** Limit of the whole run in CI, in seconds; each suite gets at most the time that is left. */
const wholeLimit = (values.surface || values.faults ? 40 : 60) * 60;
const strict = ['true', '1'].includes(process.env.CI ?? '');
const started = Date.now();
const secondsSoFar = () => (Date.now() - started) / 1000;
const totals = { passed: 0, failed: 0, suites: 0 };
/** A promise of the servers, once requested; they are stopped at the end of the run. */
let servers;
/** Set by a signal: nothing more is run or reported. */
let ending = false;

function fail(title, reason) {
  totals.failed += 1;
  console.log(`✗ ${title}: ${reason}`);
}

async function run({ name, title, level, args, limit, files, computes, program = process.execPath }, environment) {
  const log = name.replace(':', '-');
  const options = {
    cwd: workspaceRoot,
    env: { ...process.env, ...environment, ...(level ? { TEST_LEVEL: level } : {}), NO_COLOR: '1', FORCE_COLOR: '0' },
    limit: Math.max(1, Math.min(limit, strict ? wholeLimit - secondsSoFar() : Infinity)),
    yields: computes,
  };
  const result = await (files ? runJest(log, args, { ...options, expected: files, program }) : runInGroup(program, args, options));
  if (ending) await new Promise(() => undefined);
  writeFileSync(join(workspaceRoot, `.results/${log}.log`), result.output);
  const { passed = 0, skipped = 0, failures = [], code, timedOut, output, seconds } = result;
  if (timedOut) failures.push(`Ended after ${Math.round(seconds)} s; its limit is ${limit} s.`);
  if (strict && skipped > 0) failures.push(`${skipped} tests are skipped.`);
  // A suite with a non-zero exit code counts as at least one failure.
  if (code !== 0 && failures.length === 0) failures.push(output.trim().split('\n').slice(-120).join('\n'));
  const failed = failures.length > 0;
  // A suite that reports no tests counts as one.
  totals.passed += files || failed ? passed : 1;
  totals.suites += 1;
  totals.failed += failures.length;
  const counts = `${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  const outcome = files ? counts : failed ? 'failed' : 'passed';
  console.log(`${failed ? '✗' : '✓'} ${title.padEnd(46)} ${outcome.padEnd(24)} ${seconds.toFixed(1).padStart(6)} s`);
  for (const failure of failures) console.log(failure.replace(/^/gm, '    '));
  return !failed;
}

function chosenOptions() {
  const flags = Object.fromEntries(['check', 'faults', 'surface', 'help'].map((name) => [name, { type: 'boolean' }]));
  try {
    const { values } = parseArgs({ options: { ...flags, only: { type: 'string' } } });
    if (!values.help) return values;
    console.log(usage);
    process.exit(0);
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

function chosenSuites() {
  const chosen = values.surface ? surfaceSuites() : values.faults ? faultSuites() : suites();
  const all = values.only ? [...suites(), ...faultSuites(), ...surfaceSuites()] : chosen;
  const wanted = values.check ? ['lint', 'docs', 'fast', 'slow', 'simulation'] : (values.only?.split(',') ?? all.map(({ name }) => name));
  const unknown = wanted.filter((name) => !all.some((suite) => suite.name === name));
  if (unknown.length === 0) return all.filter(({ name }) => wanted.includes(name));
  console.error(`No such suite: ${unknown.join(', ')}. Known: ${all.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

/** How many suites run at a time. What they leave of the processors while they wait goes to the suites that compute. */
const lanes = Math.max(2, availableParallelism());

/** Begins the suites in order, as soon as there is a lane; one that is `alone` waits for all before it, and those after it wait for it. */
async function takeAll(chosen) {
  const running = new Set();
  let computing;
  const compute = () => Promise.all(chosen.filter(({ computes }) => computes).map(take));
  for (const suite of chosen.filter(({ computes }) => !computes)) {
    if (!suite.alone) computing ??= compute();
    while (running.size > (suite.alone ? 0 : lanes - 1)) await Promise.race(running);
    if (suite.alone) {
      await computing;
      await take(suite);
    } else {
      const taken = take(suite).finally(() => running.delete(taken));
      running.add(taken);
    }
  }
  await Promise.all([computing ?? compute(), ...running]);
}

/** Runs a suite, or reports why it cannot run. */
async function take(suite) {
  const { needs = [], title } = suite;
  // Servers take a while to fetch and start; suites that need none do not wait for them.
  const { environment, missing } = needs.length > 0 ? await servers : { missing: new Map() };
  const reasons = needs.filter((name) => missing.has(name)).map((name) => `no ${name}: ${missing.get(name)}`);
  if (reasons.length === 0) await run(suite, environment);
  else if (strict) fail(title, `left out, which CI does not allow: ${reasons.join('; ')}`);
  else console.log(`- left out: ${title} (${reasons.join('; ')})`);
}

async function stopServers() {
  const stopped = await (await servers)?.stop();
  if (stopped && stopped.code !== 0) fail('Servers', `could not be stopped:\n${stopped.output}`);
}

for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.once(signal, async () => {
    console.log(`Ended by ${signal}.`);
    ending = true;
    endAllGroups();
    await stopServers();
    process.exit(code);
  });
}

ensureInstalled({ forDevelopers: true });
mkdirSync(join(workspaceRoot, '.results'), { recursive: true });
const chosen = chosenSuites();
if (await run({ name: 'build', title: 'Build', args: ['tools/build.mjs'], limit: 300 })) {
  servers = startServers([...new Set(chosen.flatMap(({ needs = [] }) => needs))]);
  await takeAll(chosen).finally(stopServers);
}
// The first suite is the build.
if (totals.suites === 1 && totals.failed === 0) fail('Tests', 'none ran');
console.log(`Took ${Math.round(secondsSoFar())} s. What each suite printed is in .results/.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed > 0 ? 1 : 0;
