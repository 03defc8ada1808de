// Bundles the web console of apps/console into dist/console, with digests in its names and compressed copies, and a manifest that lists
// what the page loads for the gateway. Does nothing if nothing has changed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { filesUnder, workspaceRoot } from '../../tools/workspace.mjs';

const inRoot = (...path) => join(workspaceRoot, ...path);
const source = 'apps/console/src';
const folder = inRoot('dist/console');
const record = join(folder, 'build.json');
const compress = promisify(gzip);

const shared = {
  absWorkingDir: workspaceRoot,
  bundle: true,
  platform: 'browser',
  // The browsers of the last two years; these have Web Locks, dialogs and cascade layers.
  target: ['chrome120', 'firefox121', 'safari17.2'],
  tsconfig: inRoot('apps/console/tsconfig.json'),
  minify: true,
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  outdir: folder,
  write: false,
  metafile: true,
};

/** Style sheets in cascade order: tokens and base first, then components, then pages. */
function styleSheets(files) {
  const order = ['design/', 'shell/', 'components/', 'run/', 'pages/'];
  const rank = (path) => order.findIndex((begin) => path.startsWith(`${source}/${begin}`));
  return files.filter((path) => path.endsWith('.css')).sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
}

const sourcesOf = () => filesUnder(source).filter((path) => !/\.spec\.ts$/.test(path));

/** The lockfile represents the versions of all packages. */
const recipeOf = (files) =>
  [fileURLToPath(import.meta.url), inRoot('package-lock.json'), shared.tsconfig]
    .reduce((hash, path) => hash.update(readFileSync(path)), createHash('sha256'))
    .update(JSON.stringify(files))
    .digest('hex');

const stampOf = (path) => statSync(inRoot(path), { throwIfNoEntry: false })?.mtimeMs;
const nameOf = (path) => path.split('/').at(-1);

/** Writes a file atomically: two builds may run at once in one checkout. */
function writeWhole(name, content) {
  const path = join(folder, name);
  writeFileSync(`${path}.${process.pid}.draft`, content);
  renameSync(`${path}.${process.pid}.draft`, path);
}

/** Static imports of an output, with those of its imports. */
function staticImports(outputs, path, found = new Set()) {
  for (const { path: to, kind } of outputs[path].imports) {
    if (kind !== 'import-statement' || found.has(to)) continue;
    found.add(to);
    staticImports(outputs, to, found);
  }
  return found;
}

/** Builds the console if a source has changed, and reports it in one line on stderr. Throws with esbuild's messages. */
export async function buildConsole() {
  const files = sourcesOf();
  const recipe = recipeOf(files);
  const before = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : undefined;
  if (before?.recipe === recipe && Object.entries(before.inputs).every(([path, stamp]) => stampOf(path) === stamp)) return;

  const started = Date.now();
  const inputs = Object.fromEntries(files.map((path) => [path, stampOf(path)]));
  const { build } = await import('esbuild');
  // The page names its workers by their digest, so they are built first.
  const workers = await build({
    ...shared,
    format: 'iife',
    entryPoints: files.filter((path) => path.endsWith('.worker.ts')),
  });
  const workerNames = Object.entries(workers.metafile.outputs).map(([path, { entryPoint }]) => [
    nameOf(entryPoint).replace('.worker.ts', ''),
    `/assets/${nameOf(path)}`,
  ]);
  const scripts = await build({
    ...shared,
    format: 'esm',
    splitting: true,
    entryPoints: { console: `${source}/main.tsx` },
    define: { ...shared.define, workerUrls: JSON.stringify(Object.fromEntries(workerNames)) },
  });
  const styles = await build({
    ...shared,
    stdin: {
      contents: styleSheets(files)
        .map((path) => `@import './${path}';`)
        .join('\n'),
      loader: 'css',
      resolveDir: workspaceRoot,
      sourcefile: 'console.css',
    },
    entryNames: 'console-[hash]',
  });

  const { outputs } = scripts.metafile;
  const [entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === `${source}/main.tsx`);
  const manifest = {
    script: nameOf(entry),
    modules: [...staticImports(outputs, entry)].map(nameOf),
    styles: styles.outputFiles.map(({ path }) => nameOf(path)),
    /** The files that a lazy part of the page loads in addition to the first load, by its source. */
    parts: Object.fromEntries(
      Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
        entryPoint && path !== entry ? [[entryPoint, [path, ...staticImports(outputs, path)].map(nameOf)]] : [],
      ),
    ),
  };
  const built = [...workers.outputFiles, ...scripts.outputFiles, ...styles.outputFiles];
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of built) {
    writeWhole(nameOf(path), contents);
    writeWhole(`${nameOf(path)}.gz`, await compress(contents, { level: 9 }));
  }
  writeWhole('manifest.json', JSON.stringify(manifest));
  // Keeps the files of the previous build: an open page may still load them.
  const written = built.flatMap(({ path }) => [nameOf(path), `${nameOf(path)}.gz`]);
  const kept = new Set([...written, ...(before?.outputs ?? []), 'manifest.json', 'build.json']);
  for (const name of readdirSync(folder)) if (!kept.has(name) && !name.endsWith('.draft')) rmSync(join(folder, name), { force: true });
  writeWhole('build.json', JSON.stringify({ recipe, outputs: written, inputs }));
  console.error(`Built the console in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}
