// The spec files of the workspace and their levels.
import { filesUnder } from '../../../tools/workspace.mjs';

export const sourceFolders = ['apps', 'bench', 'deploy', 'eval', 'examples', 'libs', 'tests', 'tools'];

/**
 * Which files each level has, and which words on Jest's command line select it. All other files are fast: they need no server, and each
 * takes less than two seconds while as many run as there are processors.
 */
export const levels = {
  /** Starts programs, waits for time-outs, or tries many cases. Needs no server. */
  slow: { files: /\.slow\.spec\.(ts|mjs)$/, named: /\.slow(\.|$)/ },
  /** Needs real servers. */
  int: { files: /\.int\.spec\.ts$/, named: /\.int(\.|$)/ },
  /** Starts whole systems: one at a time, with enough time for a cold start. */
  e2e: { files: /\/tests\/e2e\/.*\.spec\.ts$/, named: /\.e2e(\.|$)|tests\/e2e/, limits: { testTimeout: 60_000, maxWorkers: 1 } },
  /** The web console in a browser. */
  console: { files: /\/tests\/console\/.*\.spec\.ts$/, named: /tests\/console/, limits: { testTimeout: 240_000, maxWorkers: 1 } },
  /** Parts of `npm run check:deploy`, run by hand: real clusters on this machine. */
  deploy: { files: /\/deploy\/check\/.*\.spec\.ts$/, named: /deploy\/check/, limits: { testTimeout: 1_800_000, maxWorkers: 1 } },
  /** Computes for minutes. */
  simulation: { files: /\/tests\/simulation\/.*\.spec\.ts$/, named: /tests\/simulation/ },
};

/**
 * End-to-end tests for which distributed mode makes no difference: they check pages with their examples, and how strategies handle the
 * replies of models, or their failures.
 */
export const ofEmbedded = /\/(readme|examples|pages|configuration-keys|own-experts|hostile-models|failing-servers)\.e2e\.spec\.ts$/;

/** Third-party clients and tool servers, by what they need: `npm test` runs them in embedded mode, `npm run test:surface` in both. */
export const ofClients = {
  node: /\/clients\.e2e\.spec\.ts$/,
  python: /\/python-clients\.e2e\.spec\.ts$/,
  browser: /\/browser-clients\.e2e\.spec\.ts$/,
  tools: /\/tool-servers\.e2e\.spec\.ts$/,
};

/** A part of the end-to-end tests that runs once more in the Node.js of the image: every API, streams, caches and the pages' first steps. */
export const ofImageNode = /\/(apis|client-tools|committee|deletion|demo|limits|memory|operations|readme|signatures|waves)\.e2e\.spec\.ts$/;

/** Levels that run unless one is chosen: all that need no server. */
export const unchosen = ['fast', 'slow'];

/** The spec files of these levels in these folders, as paths relative to the root. */
export function specFiles(chosen, folders = sourceFolders) {
  const levelOf = (path) => Object.keys(levels).find((name) => levels[name].files.test(`/${path}`)) ?? 'fast';
  return folders.flatMap((folder) => filesUnder(folder)).filter((path) => /\.spec\.(ts|mjs)$/.test(path) && chosen.includes(levelOf(path)));
}
