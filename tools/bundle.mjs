// Puts each program under apps/ into one file, apps/<name>/bundle/main.js, with its libraries in it: Node looks up and reads hundreds
// of files otherwise, which is most of what a start costs. What is loaded lazily stays lazy; native packages stay where they are.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, version } from 'esbuild';
import { projects, workspaceRoot } from './workspace.mjs';

/** Native: it finds its library beside its own files. */
const external = ['libsql'];
/** What CommonJS packages expect to be there. */
const banner = `import { createRequire as $createRequire } from 'node:module';
import { fileURLToPath as $fileURLToPath } from 'node:url';
const require = $createRequire(import.meta.url);
const __filename = $fileURLToPath(import.meta.url);
const __dirname = $fileURLToPath(new URL('.', import.meta.url));`;

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
  const digest = createHash('sha256')
    .update(version)
    .update(readFileSync(new URL(import.meta.url)));
  digest.update(readFileSync(join(workspaceRoot, 'package-lock.json')));
  for (const folder of folders) digest.update(readFileSync(join(workspaceRoot, folder, 'dist/.build.json')));
  return digest.digest('hex');
};

/** Bundles every app whose own code or any library changed since. Returns how many it wrote. Throws with the messages of the bundler. */
export async function bundleApps() {
  const built = projects().filter(({ folder }) => existsSync(join(workspaceRoot, folder, 'dist/.build.json')));
  const libraries = built.map(({ folder }) => folder).filter((folder) => folder.startsWith('libs/'));
  const stale = built.flatMap(({ folder }) => {
    if (!folder.startsWith('apps/') || !existsSync(join(workspaceRoot, folder, 'dist/main.js'))) return [];
    const record = join(workspaceRoot, folder, 'bundle/.bundle');
    const digest = digestOf([folder, ...libraries]);
    return existsSync(record) && readFileSync(record, 'utf8') === digest ? [] : [{ folder, record, digest }];
  });
  if (stale.length === 0) return 0;
  const { outputFiles } = await build({
    entryPoints: stale.map(({ folder }) => ({ in: join(workspaceRoot, folder, 'dist/main.js'), out: `${folder}/bundle/main` })),
    outdir: workspaceRoot,
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    external,
    plugins: [optionalPackages],
    // Nest names modules and providers after their classes.
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    banner: { js: banner },
    legalComments: 'none',
    logLevel: 'silent',
  });
  for (const { record } of stale) rmSync(record, { force: true });
  for (const { path, contents } of outputFiles) writeWhole(path, contents);
  for (const { folder, record, digest } of stale) {
    for (const library of libraries) {
      const assets = join(workspaceRoot, library, 'dist/assets');
      if (existsSync(assets)) cpSync(assets, join(workspaceRoot, folder, 'bundle/assets'), { recursive: true });
    }
    writeWhole(record, digest);
  }
  return stale.length;
}

/** Two builds may run at once in one checkout: a reader sees the old file or the new one, never half of one. */
export function writeWhole(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}
