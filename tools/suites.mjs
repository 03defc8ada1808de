// The suites of `npm test`, in the order they run. The tasks inside types, lint and fast tests are Nx's, so unchanged
// projects come from its cache.
import { join } from 'node:path';
import { specFiles } from './results.mjs';
import { servers } from './servers.mjs';
import { projects, workspaceRoot } from './workspace.mjs';

const nx = join(workspaceRoot, 'node_modules/nx/dist/bin/nx.js');
const jest = join(workspaceRoot, 'tools/jest.mjs');
const endToEnd = 'tests/e2e';
const simulation = 'tests/simulation';
/** Integration tests that run beside others, each with the suite that it begins with: one of the two mostly waits. */
const companions = {
  'apps/experts': 'int:standalone',
  'libs/adapters/symbolic': 'int:bench',
  'libs/adapters/neo4j': 'int:kafka',
};

/**
 * A suite: `args` for Node, `cwd`, `limit` and `projectLimit` (of one project of it) in seconds, `needs` (names of servers), and where its tests are counted: at
 * `level` in each of `folders`. A suite without a level is one check that passes or fails as a whole. One with `beside` begins
 * together with the suite of that name, where both are run, and may outlast it. Those with `computes` take what the others leave of the
 * processors, one after the other, from the first suite on that is not `alone`: such a one uses every processor.
 */
export function suites() {
  const all = projects();
  const fast = all.filter(({ folder }) => folder !== endToEnd && folder !== simulation);
  const integration = all.filter(({ folder }) => specFiles(folder, 'int').length > 0);
  const found = [
    {
      name: 'fast',
      title: 'Fast tests',
      args: [nx, 'run-many', '-t', 'test', '--exclude=@conclave/simulation', '--output-style=stream'],
      limit: 900,
      projectLimit: 500,
      level: 'fast',
      folders: fast.map(({ folder }) => folder),
      alone: true,
    },
    { name: 'docs', title: 'Printed docs', args: [join(workspaceRoot, 'tools/print-docs.mjs'), '--check'], limit: 60 },
    { name: 'lint', title: 'Types and lint', args: [nx, 'run', '@conclave/tools:check-sources'], limit: 480, computes: true },
    {
      name: 'simulation',
      title: 'Simulation',
      args: [jest, 'fast'],
      cwd: simulation,
      limit: 900,
      level: 'fast',
      folders: [simulation],
      computes: true,
    },
    ...integration.map(({ folder, needs }) => ({
      name: `int:${folder.split('/').at(-1)}`,
      title: `Integration tests of ${folder}`,
      args: [jest, 'int'],
      cwd: folder,
      limit: 480,
      level: 'int',
      folders: [folder],
      needs,
      ...(companions[folder] ? { beside: companions[folder] } : {}),
    })),
    engineSuite('embedded', []),
    engineSuite('distributed', ['kafka', 'redis', 'neo4j', 'chroma']),
    faultSuite('embedded', 4, []),
    faultSuite('distributed', 2, ['kafka', 'redis', 'neo4j', 'searx']),
  ];
  // Below the suite's own limit, so that the one project that hangs is ended and says what it was at, and the others are counted.
  return found.map((suite) => (suite.level ? { projectLimit: suite.limit - 15, ...suite } : suite));
}

function engineSuite(engine, needs) {
  const level = `e2e-${engine}`;
  return {
    name: level,
    title: `End-to-end tests, ${engine}`,
    args: [jest, level],
    cwd: endToEnd,
    limit: 420,
    level,
    folders: [endToEnd],
    needs,
  };
}

/** The kill matrix, the short form of other faults, and each protection switched off once; `jobs` systems at a time. */
function faultSuite(engine, jobs, needs) {
  return {
    name: `faults-${engine}`,
    title: `Faults, ${engine}`,
    args: [join(workspaceRoot, 'tests/faults/dist/main.js'), '--ci', '--engine', engine, '--jobs', String(jobs)],
    limit: 900,
    needs,
    alone: true,
  };
}

/** Why a suite cannot run, or undefined. */
export function obstacle(suite, missingServers) {
  const reasons = (suite.needs ?? [])
    .filter((name) => missingServers.has(name))
    .map((name) => `no ${servers[name].title}: ${missingServers.get(name)}`);
  if (reasons.length > 0) return reasons.join('; ');
  if (suite.level && suite.folders.every((folder) => specFiles(folder, suite.level).length === 0)) return 'there are no such tests';
  return undefined;
}
