// Bundles spec files with everything they import, so that Jest loads a hundred files for each instead of the 1,600 of Nest, Express and our
// packages.
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import { programOptions } from '../../../tools/build.mjs';
import { workspaceRoot } from '../../../tools/workspace.mjs';

const cache = join(workspaceRoot, 'node_modules/.cache/conclave-specs');
/** Packages that only tests and tools import; Jest loads them, or what jest.config.mjs maps them to. */
const { devDependencies } = JSON.parse(readFileSync(join(workspaceRoot, 'package.json'), 'utf8'));
const ofTests = ['esbuild', ...Object.keys(devDependencies)];

/** Spec files of the workspace are bundled, unless one mocks a module: mocking replaces modules one by one. */
export const isBundled = (path, source) =>
  /\.spec\.ts$/.test(path) && path.startsWith(join(workspaceRoot, '/')) && !source.includes('unstable_mockModule');

/** A bundled file is in another place, so the path of its source must be reported as its own. */
const ownPlaces = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\.(ts|mjs)$/ }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const values = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
      const contents = readFileSync(path, 'utf8').replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, name) =>
        JSON.stringify(values[name]),
      );
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/** Bundles spec files (absolute paths) and returns the folder that contains each at its path relative to the root, with the ending .mjs. */
export async function bundleSpecs(files) {
  const outdir = join(cache, String(process.pid));
  removeBundles();
  const { plugins, external, ...options } = programOptions;
  await build({
    ...options,
    entryPoints: files,
    outbase: workspaceRoot,
    outdir,
    outExtension: { '.js': '.mjs' },
    // Files that programs look for next to themselves are bundled here too, under their own path.
    external: [...external.filter((name) => !isAbsolute(name)), ...ofTests],
    plugins: [ownPlaces, ...plugins],
    minifyWhitespace: false,
    minifySyntax: false,
    metafile: false,
    write: true,
  });
  await stop();
  return outdir;
}

/** Removes the bundles of this process, and those of processes that have ended. */
export function removeBundles() {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache))
    if (Number(name) === process.pid || !isAlive(Number(name))) rmSync(join(cache, name), { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
