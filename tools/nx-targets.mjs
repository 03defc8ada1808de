// Gives Nx the targets of every project, so that no project has to repeat them. Caching and inputs stand in nx.json.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { workspaceRoot } from './workspace.mjs';

function hasFile(folder, ending) {
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((name) => name.endsWith(ending));
}

/** The tools are plain scripts. They answer for the files of the root too, and for what the pages cite: tests and commands of every project. */
const rootFiles = ['{workspaceRoot}/*.mjs', '{workspaceRoot}/*.json'];
const sources = ['{workspaceRoot}/{apps,bench,deploy,eval,libs,tests,tools}/**/*.{ts,mjs,json}', ...rootFiles];
const pages = ['{workspaceRoot}/docs/*.md'];
const toolTargets = {
  lint: { command: 'eslint --max-warnings=0 tools *.mjs', inputs: ['default', ...rootFiles] },
  test: { command: 'node jest.mjs fast', options: { cwd: '{projectRoot}' }, inputs: ['default', ...sources, ...pages] },
  // The whole workspace in one process: what `npm test` and `npm run check` use. The targets of single projects serve `nx affected`.
  'check-sources': { command: 'node tools/check-sources.mjs', cache: true, inputs: sources, outputs: [] },
};

function targetsOf(folder) {
  const tools = relative(folder, 'tools');
  const inFolder = (command) => ({ command, options: { cwd: '{projectRoot}' } });
  const source = join(workspaceRoot, folder, 'src');
  if (folder === 'tools') return toolTargets;
  const targets = {
    build: { command: `node tools/build.mjs ${folder}` },
    typecheck: inFolder('tsc --noEmit -p tsconfig.json'),
    lint: { command: `eslint --max-warnings=0 ${folder}` },
  };
  // The end-to-end suite starts whole engines; tools/test.mjs runs it by itself, once for each engine.
  // Specs of these start built programs; all others run the sources.
  const startsPrograms = /^(apps|bench|eval|tests)/.test(folder) ? { dependsOn: ['build', '^build'] } : {};
  if (folder !== 'tests/e2e') targets.test = { ...inFolder(`node ${tools}/jest.mjs fast`), ...startsPrograms };
  if (hasFile(source, '.int.spec.ts')) targets['test-int'] = inFolder(`node ${tools}/jest.mjs int`);
  return targets;
}

export const name = 'conclave-targets';

export const createNodesV2 = [
  '{apps,bench,deploy,eval,libs,tests,tools}/**/package.json',
  (manifests) =>
    manifests
      .filter((manifest) => !/(^|\/)(node_modules|dist)\//.test(manifest))
      .map((manifest) => {
        const folder = dirname(manifest);
        return [manifest, { projects: { [folder]: { root: folder, targets: targetsOf(folder) } } }];
      }),
];
