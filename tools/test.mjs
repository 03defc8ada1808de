// Runs everything this machine can run: `npm test`. One line per suite, one line per part that was left out with the
// reason, and a closing line `N passed, N failed`. With CI=true leaving anything out is a failure.
//   --check            lint, types, printed docs, fast tests and simulation only (`npm run check`)
//   --only a,b         only the named suites, e.g. --only fast,int:redis,e2e-embedded
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './ensure-installed.mjs';
import { jest, runJest } from './jest-run.mjs';
import { endAllGroups, runInGroup } from './process-group.mjs';
import { servers, startServers } from './servers.mjs';
import { specFiles } from './specs.mjs';
import { projects, workspaceRoot } from './workspace.mjs';

/** The whole run in CI, in seconds; a suite gets what is left of it when that is less than its own limit. */
const wholeLimit = 55 * 60;
const checks = ['lint', 'docs', 'fast', 'simulation'];
const nx = join(workspaceRoot, 'node_modules/nx/dist/bin/nx.js');
/** Integration tests that run beside others, each with the suite that it begins with: one of the two mostly waits. */
const companions = { 'int:experts': 'int:standalone', 'int:symbolic': 'int:bench', 'int:neo4j': 'int:kafka' };
/** The tests against a broker mostly wait for time-outs of groups. */
const workers = { 'int:kafka': ['--maxWorkers=3'] };

/**
 * The suites in the order they run: `args` for Node, `limit` in seconds, `needs` (names of servers). One with `files` runs Jest, or what Nx
 * knows of it, on so many spec files of `level`; another passes or fails as a whole. One with `beside` begins together with the suite of that
 * name, where both are run, and may outlast it. Those with `computes` take what the others leave of the processors, one after the other, from
 * the first suite on that is not `alone`: such a one uses every processor.
 */
function suites() {
  const integration = projects().flatMap(({ folder, needs }) => {
    const [name, files] = [`int:${folder.split('/').at(-1)}`, specFiles('int', [folder]).length];
    const args = ['--roots', folder, ...(workers[name] ?? [])];
    const found = { ...jestSuite(name, `Integration tests of ${folder}`, 'int', files, args), limit: 480, needs, beside: companions[name] };
    return files > 0 ? [found] : [];
  });
  const endToEnd = ['embedded', 'distributed'].map((engine) => ({
    ...jestSuite(`e2e-${engine}`, `End-to-end tests, ${engine}`, `e2e-${engine}`, specFiles('e2e').length, []),
    limit: 420,
    needs: engine === 'embedded' ? [] : ['kafka', 'redis', 'neo4j', 'chroma'],
  }));
  // The kill matrix, the short form of other faults, and each protection switched off once; so many systems at a time.
  const faults = Object.entries({ embedded: 4, distributed: 2 }).map(([engine, jobs]) => ({
    name: `faults-${engine}`,
    title: `Faults, ${engine}`,
    args: ['dist/faults.js', '--ci', '--engine', engine, '--jobs', String(jobs)],
    limit: 900,
    needs: engine === 'embedded' ? [] : ['kafka', 'redis', 'neo4j', 'searx'],
    alone: true,
  }));
  return [
    { name: 'fast', title: 'Fast tests', args: [nx, 'run', 'conclave:fast'], limit: 900, files: specFiles('fast').length, alone: true },
    { name: 'docs', title: 'Printed docs', args: ['tools/run.mjs', 'print-docs', '--check'], limit: 60 },
    { name: 'lint', title: 'Types and lint', args: [nx, 'run', 'conclave:lint'], limit: 480, computes: true },
    { ...jestSuite('simulation', 'Simulation', 'simulation', specFiles('simulation').length, []), limit: 900, computes: true },
    ...integration,
    ...endToEnd,
    ...faults,
  ];
}

function jestSuite(name, title, level, files, options) {
  const outcome = `--outputFile=.results/${name.replace(':', '-')}.json`;
  return { name, title, level, files, args: [jest, '--json', outcome, ...options] };
}

const { values } = parseArgs({ options: { check: { type: 'boolean' }, only: { type: 'string' } } });
const strict = ['true', '1'].includes(process.env.CI ?? '');
const started = Date.now();
const totals = { passed: 0, failed: 0 };
/** Set once servers are asked for; whoever ends the run stops what was started. */
let starting;
/** A signal came: nothing more is run or reported. */
let ending = false;

function report(mark, title, text, seconds) {
  console.log(`${mark} ${title.padEnd(46)} ${text.padEnd(24)} ${seconds.toFixed(1).padStart(6)} s`);
}

function fail(title, reason) {
  totals.failed += 1;
  console.log(`✗ ${title}: ${reason}`);
}

async function runSuite(suite, environment) {
  const { name, title, level, args, limit, files, computes } = suite;
  const log = name.replace(':', '-');
  const left = strict ? wholeLimit - (Date.now() - started) / 1000 : Infinity;
  const options = {
    cwd: workspaceRoot,
    env: { ...process.env, ...environment, ...(level ? { TEST_LEVEL: level } : {}), NO_COLOR: '1', FORCE_COLOR: '0' },
    limit: Math.max(1, Math.min(limit, left)),
    yields: computes,
  };
  const result = await (files ? runJest(log, args, { ...options, expected: files }) : runInGroup(process.execPath, args, options));
  if (ending) await new Promise(() => undefined);
  writeFileSync(join(workspaceRoot, `.results/${log}.log`), result.output);
  const { passed = 0, skipped = 0, failures = [] } = result;
  if (result.timedOut) failures.push(`Ended after its limit of ${limit} s.`);
  if (strict && skipped > 0) failures.push(`${skipped} tests are skipped.`);
  // A suite that ended badly is at least one failure.
  if (result.code !== 0 && failures.length === 0) failures.push(result.output.trim().split('\n').slice(-120).join('\n'));
  totals.passed += passed;
  totals.failed += failures.length;
  const failed = failures.length > 0;
  const counts = `${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  report(failed ? '✗' : '✓', title, files ? counts : failed ? 'failed' : 'passed', result.seconds);
  for (const failure of failures) console.log(failure.replace(/^/gm, '    '));
}

function chosenSuites() {
  const all = suites();
  const wanted = values.check ? checks : values.only?.split(',');
  const unknown = wanted?.filter((name) => !all.some((suite) => suite.name === name)) ?? [];
  if (unknown.length === 0) return wanted ? all.filter(({ name }) => wanted.includes(name)) : all;
  console.error(`No such suite: ${unknown.join(', ')}. Known: ${all.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

async function runAll() {
  const chosen = chosenSuites();
  const options = { cwd: workspaceRoot, env: process.env, limit: 300 };
  const build = await runInGroup(process.execPath, ['tools/build.mjs'], options);
  report(build.code === 0 ? '✓' : '✗', 'Build', build.code === 0 ? 'passed' : 'failed', build.seconds);
  if (build.code !== 0) return fail('Build', `\n${build.output}`);
  starting = startServers([...new Set(chosen.flatMap((suite) => suite.needs ?? []))]);
  await takeSuites(chosen).finally(stopServers);
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
  const { environment, missing } = suite.needs?.length > 0 ? await starting : { missing: new Map() };
  const reasons = (suite.needs ?? []).filter((name) => missing.has(name)).map((name) => `no ${servers[name].title}: ${missing.get(name)}`);
  if (reasons.length === 0) await runSuite(suite, environment);
  else if (strict) fail(suite.title, `left out, which CI does not allow: ${reasons.join('; ')}`);
  else console.log(`- left out: ${suite.title} (${reasons.join('; ')})`);
}

async function stopServers() {
  const stopped = await (await starting)?.stop();
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
await runAll();
if (totals.passed === 0 && totals.failed === 0) fail('Tests', 'none ran');
console.log(`Took ${Math.round((Date.now() - started) / 1000)} s. What each suite printed is in .results/.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed > 0 ? 1 : 0;
