// Bundles the programs of the workspace from TypeScript into dist/: `node tools/build.mjs [apps]`, all or those of one folder.
// Does nothing if nothing has changed.
// A program is named after its project, `dist/planner.js`, or after its file if another program starts it as a process. Shared code and
// lazy imports are separate files, so that a start reads no more than it uses. `npm run check` checks the types.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from '../apps/console/build.mjs';
import { leanPackages, metadata } from './lean-packages.mjs';
import { filesUnder, projects, workspaceRoot } from './workspace.mjs';

const isProgram = /\/src\/(.*\/)?(main|distributed|memory-probe|langgraph-parts|[a-z-]+-worker|[a-z-]+\.faults)\.ts$/;
/** Scripts that import the product. */
const scripts = [
  'docs/print-docs.mjs',
  'examples/run-example.mjs',
  'tests/support/recording/record-events.mjs',
  'tests/support/recording/record-runs.mjs',
];
/** Files that need Jest; built programs must not. */
const testOnly = /(\.(spec|contract)|\/suites)\.ts$/;
const inRoot = (...path) => join(workspaceRoot, ...path);
const dist = inRoot('dist');
const record = join(dist, '.build.json');
const leanPackagesFile = inRoot('tools/lean-packages.mjs');
/** Optional packages of Nest, not installed here. */
const optional = '@nats-io/transport-node @nestjs/websockets amqp-connection-manager class-transformer class-validator mqtt'.split(' ');
export const programOptions = {
  absWorkingDir: workspaceRoot,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  tsconfig: inRoot('tsconfig.json'),
  // Code finds its assets relative to its own file, so all files are in one folder, which contains `assets`.
  chunkNames: '[name]-[hash]',
  // CommonJS packages call require.
  banner: { js: "import { createRequire as $createRequire } from 'node:module';\nconst require = $createRequire(import.meta.url);" },
  // Decorators need reflect-metadata first; esbuild decides the order of files, so every file imports it.
  // The other file makes stack traces show lines of TypeScript.
  inject: [metadata, inRoot('libs/platform/src/process/typescript-lines.ts')],
  // libsql and the local stack find files relative to their own location.
  external: ['libsql', inRoot('deploy/stack/*'), ...optional],
  plugins: [leanPackages],
  // Every start reads every byte; source maps preserve the line numbers.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  sourcemap: 'linked',
  sourcesContent: false,
  write: false,
  metafile: true,
};

/** Sources of the programs by output name; only those in the folder `within`, if given. */
function programs(within = '') {
  const sources = projects().flatMap(({ folder }) => (folder.startsWith('libs/') ? [] : filesUnder(`${folder}/src`)));
  const nameOf = (path) => path.replace(/(\/src)?\/main\.ts$/, '').replace(/^.*\/|\.(ts|mjs)$/g, '');
  return Object.fromEntries(
    [...sources.filter((path) => isProgram.test(path)), ...scripts]
      .filter((path) => path.startsWith(within))
      .map((path) => [nameOf(path), path]),
  );
}

/** What outputs depend on besides the sources. The lockfile represents esbuild's version, which takes longer to determine. */
const recipeOf = (entryPoints) =>
  [fileURLToPath(import.meta.url), leanPackagesFile, inRoot('package-lock.json'), programOptions.tsconfig]
    .reduce((hash, path) => hash.update(readFileSync(path)), createHash('sha256'))
    .update(JSON.stringify(entryPoints))
    .digest('hex');

/** Modification time; that of a folder changes when a file is added or removed. */
const stampOf = (path) => statSync(inRoot(path), { throwIfNoEntry: false })?.mtimeMs;

/**
 * Stamps of what a build from `began` to `ended` (milliseconds since 1970) has read. A file that changed meanwhile gets none, because either
 * content may have been read: the next build reads it again.
 */
export const stampsOf = (paths, began, ended = Date.now()) =>
  Object.fromEntries(
    paths.map((path) => {
      const stamp = stampOf(path);
      return [path, stamp >= began && stamp <= ended ? null : stamp];
    }),
  );

/** Writes a file atomically: two builds may run at once in one checkout, and readers must never see half a file. */
function writeWhole(path, content) {
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

/** Builds all programs if a source has changed, and reports it in one line on stderr. Throws with esbuild's messages. */
export async function buildPrograms(within) {
  const started = Date.now();
  const entryPoints = programs(within);
  const recipe = recipeOf(entryPoints);
  const before = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : undefined;
  if (before?.recipe === recipe && Object.entries(before.inputs).every(([path, stamp]) => stampOf(path) === stamp)) return;

  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({ ...programOptions, entryPoints, outdir: dist });
  const sources = Object.keys(metafile.inputs).filter((path) => !/node_modules\/|^(used-of|unused|metadata):/.test(path));
  const wrong = sources.find((path) => testOnly.test(path));
  if (wrong) throw new Error(`A program is built with ${wrong}, which only tests may import.`);

  mkdirSync(dist, { recursive: true });
  const folders = sources.map((path) => `${path.replace(/\/src\/.*/, '')}/src/assets`);
  const assets = [...new Set(folders)].filter((path) => existsSync(inRoot(path)));
  for (const path of assets) cpSync(inRoot(path), join(dist, 'assets'), { recursive: true });
  // Writes programs after the files that they import.
  for (const { path, contents } of outputFiles.reverse()) writeWhole(path, contents);
  // Keeps the files of the previous build, because a running process may still import them.
  const outputs = outputFiles.map(({ path }) => basename(path));
  const kept = new Set([...outputs, ...(before?.outputs ?? []), 'assets', 'console', basename(record)]);
  for (const name of readdirSync(dist))
    if (!kept.has(name) && !name.endsWith('.draft')) rmSync(join(dist, name), { recursive: true, force: true });
  const read = [...sources, ...assets, ...assets.flatMap((folder) => filesUnder(folder))];
  writeWhole(record, JSON.stringify({ recipe, outputs, inputs: stampsOf(read, started) }));
  console.error(`Built ${Object.keys(entryPoints).length} programs in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}

/** The programs and the web console that the gateway serves. */
export const buildAll = async (within) => {
  await buildPrograms(within);
  await buildConsole();
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll(process.argv[2]);
