import { spawnSync } from 'node:child_process';
import vm from 'node:vm';
import { levels, sourceFolders, unchosen } from './tests/support/jest/levels.mjs';

// Jest loads ES modules only under a flag of Node. Starting again with it makes a plain `npx jest` work. Every spec file loads its
// libraries again: a larger nursery and a collector without helper threads clean up after it with less work.
if (typeof vm.SourceTextModule !== 'function') {
  const memory = ['--single-threaded-gc', '--min-semi-space-size=32', '--max-semi-space-size=64'];
  const flags = ['--experimental-vm-modules', '--no-warnings', ...memory];
  const { status } = spawnSync(process.execPath, [...flags, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(status ?? 1);
}

const named = Object.keys(levels).find((name) => process.argv.slice(2).some((argument) => levels[name].named.test(argument)));
const [level, mode] = process.env.TEST_LEVEL?.split('-') ?? [named];
const chosen = level?.split(',') ?? unchosen;
if (mode) process.env.TEST_MODE = mode;

/** Set by tests/support/jest/run.mjs: where to write what is running. */
const progress = process.env.CONCLAVE_TEST_PROGRESS;

/**
 * The Jest configuration of the whole workspace: `npx jest <pattern>`, or `npx jest <pattern> --roots <folder>` for one project.
 *
 * TEST_LEVEL says which levels of spec files run (`fast,slow`), e2e-distributed with its mode. Without it the command line determines the level
 * (`npx jest redis-state.int`, `npx jest tests/simulation`); if it names none, everything runs that needs no server, fast or slow.
 */
export default {
  roots: sourceFolders.map((folder) => `<rootDir>/${folder}`),
  testEnvironment: '<rootDir>/tests/support/jest/environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1', '^fast-check$': '<rootDir>/tests/support/jest/property-tests.mjs' },
  globalSetup: '<rootDir>/tests/support/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/tests/support/jest/global-teardown.mjs',
  globals: { levels: chosen },
  transform: { '^.+\\.ts$': '<rootDir>/tests/support/jest/transform.mjs' },
  reporters: ['default', ...(progress ? [['<rootDir>/tests/support/jest/progress.mjs', { file: progress }]] : [])],
  testRegex: [levels[level]?.files ?? /\.spec\.(ts|mjs)$/].map(({ source }) => source),
  testPathIgnorePatterns: Object.keys(levels).flatMap((name) => (chosen.includes(name) ? [] : [levels[name].files.source])),
  modulePathIgnorePatterns: ['<rootDir>/.*/(dist|\\.results|\\.stack)/', '<rootDir>/(bench/langgraph|tests/clients)/node_modules/'],
  workerIdleMemoryLimit: '1GB',
  // Ends tests that hang. On two busy cores, a process started by a test may need more than Jest's five seconds to print its first line.
  testTimeout: 30_000,
  ...levels[level]?.limits,
  // These suites try a property for seconds.
  ...(process.env.CONCLAVE_FUZZ ? { testTimeout: 300_000 } : {}),
};
