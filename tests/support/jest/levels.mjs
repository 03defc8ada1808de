// The spec files of the workspace and their levels.
import { filesUnder } from '../../../tools/workspace.mjs';

export const sourceFolders = ['apps', 'bench', 'deploy', 'eval', 'examples', 'libs', 'tests', 'tools'];

/**
 * Which files a level has, and what on Jest's command line asks for them. What is of none of these is fast: it needs no server and takes
 * seconds.
 */
export const levels = {
  /** Needs real servers. */
  int: { files: /\.int\.spec\.ts$/, named: /\.int(\.|$)/ },
  /** Starts whole systems: one at a time, and with time for a cold start. */
  e2e: { files: /\/tests\/e2e\/.*\.spec\.ts$/, named: /\.e2e(\.|$)|tests\/e2e/, limits: { testTimeout: 60_000, maxWorkers: 1 } },
  /** The web console in a browser. */
  console: { files: /\/tests\/console\/.*\.spec\.ts$/, named: /tests\/console/, limits: { testTimeout: 240_000, maxWorkers: 1 } },
  /** Parts of `npm run check:deploy`, by hand: real clusters on this machine. */
  deploy: { files: /\/deploy\/check\/.*\.spec\.ts$/, named: /deploy\/check/, limits: { testTimeout: 1_800_000, maxWorkers: 1 } },
  /** Computes for minutes. */
  simulation: { files: /\/tests\/simulation\/.*\.spec\.ts$/, named: /tests\/simulation/ },
};

/** End-to-end tests of what one process prints and starts: distributed mode has no part in them. */
export const ofOneProcess = /\/(readme|examples)\.e2e\.spec\.ts$/;

/** Clients of others by what they need: `npm test` runs them in embedded mode, `npm run test:surface` in both. */
export const ofClients = {
  node: /\/clients\.e2e\.spec\.ts$/,
  python: /\/python-clients\.e2e\.spec\.ts$/,
  browser: /\/browser-clients\.e2e\.spec\.ts$/,
};

/** Paths relative to the root of the spec files in these folders that are of a level. */
export function specFiles(level, folders = sourceFolders) {
  const levelOf = (path) => Object.keys(levels).find((name) => levels[name].files.test(`/${path}`)) ?? 'fast';
  return folders.flatMap((folder) => filesUnder(folder)).filter((path) => /\.spec\.(ts|mjs)$/.test(path) && levelOf(path) === level);
}
