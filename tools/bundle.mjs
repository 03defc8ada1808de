// Puts each program under apps/ into one file, apps/<name>/bundle/program.cjs, with its libraries in it: Node looks up and reads hundreds
// of files otherwise, which is most of what a start costs. What is loaded lazily stays lazy; native packages stay where they are.
// `main.js` beside it starts it, with the machine code that is kept beside it too (bundle-loader.mjs).
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { build, version } from 'esbuild';
import { asciiSource } from './ascii-source.mjs';
import { sourceOf } from './bundle-loader.mjs';
import { projects, workspaceRoot } from './workspace.mjs';
import { writeWhole } from './write-whole.mjs';

/** Native: it finds its library beside its own files. */
const external = ['libsql'];
/** Shipped as `load.js`. */
const loader = join(workspaceRoot, 'tools/bundle-loader.mjs');
/** The entry of a bundled program. */
const mainOf = (cache) => `import { loadProgram } from './load.js';

await loadProgram(import.meta.url, '${cache}').exports.start(import.meta.url);
`;
/** What the output of the build depends on beside the code of the programs. */
const recipe = [
  fileURLToPath(import.meta.url),
  loader,
  join(workspaceRoot, 'tools/ascii-source.mjs'),
  join(workspaceRoot, 'package-lock.json'),
];

/** Packages that a dependency would use if they were installed, such as the transports of Nest: the import fails at run time as it would without a bundle. */
const optionalPackages = {
  name: 'optional-packages',
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === optionalPackages || !importer.includes('node_modules')) return undefined;
      const found = await bundler.resolve(path, { kind, importer, resolveDir, pluginData: optionalPackages });
      return found.errors.length > 0 ? { path, external: true } : found;
    });
  },
};

const digestOf = (folders) => {
  const digest = createHash('sha256').update(`${version} ${process.version} ${process.arch}`);
  for (const file of recipe) digest.update(readFileSync(file));
  for (const folder of folders) digest.update(readFileSync(join(workspaceRoot, folder, 'dist/.build.json')));
  return digest.digest('hex');
};

/** Bundles every app whose own code or any library changed since. Returns how many it wrote. Throws with the messages of the bundler. */
export async function bundleApps() {
  const built = projects().filter(({ folder }) => existsSync(join(workspaceRoot, folder, 'dist/.build.json')));
  const libraries = built.map(({ folder }) => folder).filter((folder) => folder.startsWith('libs/'));
  const stale = built.flatMap(({ folder }) => {
    if (!folder.startsWith('apps/') || !existsSync(join(workspaceRoot, folder, 'dist/start.js'))) return [];
    const record = join(workspaceRoot, folder, 'bundle/.bundle');
    const digest = digestOf([folder, ...libraries]);
    return existsSync(record) && readFileSync(record, 'utf8') === digest ? [] : [{ folder, record, digest }];
  });
  if (stale.length === 0) return 0;
  const outputFiles = await bundled(
    stale.map(({ folder }) => ({ in: join(workspaceRoot, folder, 'dist/start.js'), out: `${folder}/bundle/program` })),
    workspaceRoot,
  );
  for (const { record } of stale) rmSync(record, { force: true });
  for (const { path, contents } of outputFiles) writeWhole(path, contents);
  for (const { folder, digest } of stale) {
    for (const library of libraries) {
      const assets = join(workspaceRoot, library, 'dist/assets');
      if (existsSync(assets)) cpSync(assets, join(workspaceRoot, folder, 'bundle/assets'), { recursive: true });
    }
    for (const name of readdirSync(join(workspaceRoot, folder, 'bundle')).filter((one) => /\.(cache|map)$/.test(one)))
      rmSync(join(workspaceRoot, folder, 'bundle', name), { force: true });
    writeWhole(join(workspaceRoot, folder, 'bundle/load.js'), readFileSync(loader));
    writeWhole(join(workspaceRoot, folder, 'bundle/main.js'), mainOf(cacheOf(digest)));
  }
  await keepMachineCode(stale);
  for (const { record, digest } of stale) writeWhole(record, digest);
  return stale.length;
}

/** Programs as files of `path` and `contents` under `folder`, from entries of esbuild. Throws with the messages of the bundler. */
export async function bundled(entryPoints, folder) {
  const { outputFiles } = await build({
    entryPoints,
    outdir: folder,
    write: false,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    // One byte a character, together with the plugin: the loader reads it as it stands.
    charset: 'ascii',
    outExtension: { '.js': '.cjs' },
    define: { 'import.meta.url': '$moduleUrl', 'import.meta.dirname': '__dirname' },
    target: 'node20.19',
    external,
    plugins: [optionalPackages, asciiSource],
    // Nest names modules and providers after their classes.
    keepNames: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  for (const { path, contents } of outputFiles) refuseMisread(path, Buffer.from(contents));
  return outputFiles;
}

/**
 * Throws with the place of the first character that the loader reads as another one than the bundler wrote: such a program would run, and
 * behave otherwise than what was tested.
 */
export function refuseMisread(path, written) {
  const meant = written.toString('utf8');
  const read = sourceOf(written);
  if (read === meant) return;
  let at = 0;
  while (read[at] === meant[at]) at += 1;
  const before = meant.slice(0, at);
  const line = before.split('\n').length;
  const place = meant
    .slice(Math.max(before.lastIndexOf('\n') + 1, at - 60))
    .split('\n')[0]
    .slice(0, 120);
  throw new Error(
    `${path}:${line} would be read wrong by its loader from "${meant[at]}" on: ${place}\nWrite that character as an escape such as \\u00b0.`,
  );
}

/** V8 compares no more than the length of a source: the name says which one the code is of. */
const cacheOf = (digest) => `program-${digest.slice(0, 16)}.cache`;

/** Evaluates the programs, as many at a time as there are processors. Throws with what a program says that cannot be evaluated. */
async function keepMachineCode(programs) {
  const waiting = [...programs];
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const args = [join(workspaceRoot, 'tools/code-cache.mjs'), join(workspaceRoot, next.folder, 'bundle'), cacheOf(next.digest)];
      await promisify(execFile)(process.execPath, args);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}
