import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { swcOptions } from './tools/swc-options.mjs';

const inTools = (name) => fileURLToPath(new URL(`tools/${name}`, import.meta.url));

/**
 * The Jest configuration of every project.
 *
 * Levels: `*.spec.ts` is fast and needs no server; `*.int.spec.ts` needs a real one and runs with TEST_LEVEL=int, or when
 * named on the command line with its `.int` (`npx jest -c libs/adapters/redis/jest.config.mjs redis-state.int`).
 */

// Jest loads ES modules only under a flag of Node. Starting again with it makes a plain `npx jest -c <project>` work.
if (typeof vm.SourceTextModule !== 'function') {
  const flags = ['--experimental-vm-modules', '--no-warnings'];
  const { status } = spawnSync(process.execPath, [...flags, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(status ?? 1);
}

const integration = process.env.TEST_LEVEL === 'int' || process.argv.slice(2).some((argument) => /\.int(\.|$)/.test(argument));

/** Set by tools/jest.mjs: where to note what is running. */
const progress = process.env.CONCLAVE_TEST_PROGRESS;

export default {
  // One cache of transformed sources for all projects: each would transform every library it imports once more.
  id: 'conclave',
  testEnvironment: inTools('jest-environment.mjs'),
  // A workspace package resolves to its TypeScript source, so a test never sees a stale build.
  testEnvironmentOptions: { customExportConditions: ['@conclave/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1', '^fast-check$': inTools('property-tests.mjs') },
  transform: {
    '^.+\\.ts$': [inTools('shared-transform.mjs'), { ...swcOptions, sourceMaps: 'inline' }],
  },
  reporters: ['default', ...(progress ? [[inTools('progress.mjs'), { file: progress }]] : [])],
  testMatch: [integration ? '<rootDir>/src/**/*.int.spec.ts' : '<rootDir>/src/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', ...(integration ? [] : ['\\.int\\.spec\\.ts$'])],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // A property is tried for seconds there.
  ...(process.env.CONCLAVE_FUZZ ? { testTimeout: 300_000 } : {}),
};
