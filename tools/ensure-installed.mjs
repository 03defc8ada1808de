// Installs the dependencies when they are missing or differ from the lockfile. Needs nothing but Node and npm, so that
// `npm start` and `npm test` work on a fresh clone.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from './workspace.mjs';

/** Lowest Node that runs ES modules the way the workspace needs them; the same as `engines` in package.json. */
const nodeFloor = [20, 19];

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/**
 * Why an installation is due, or undefined when what is installed is what the lockfile says.
 * npm keeps a record of what it really installed in node_modules/.package-lock.json; packages for other platforms are
 * optional and absent there. A workspace package is a link and has no version of its own to compare.
 */
function reasonToInstall() {
  const installed = readJson(join(workspaceRoot, 'node_modules/.package-lock.json'));
  if (!installed) return 'dependencies are not installed';
  const wanted = readJson(join(workspaceRoot, 'package-lock.json'));
  for (const [path, entry] of Object.entries(wanted.packages)) {
    if (!path.includes('node_modules/')) continue;
    const present = installed.packages[path];
    if (present ? present.version !== entry.version : !entry.optional && !entry.peer) return 'the lockfile has changed';
  }
  return undefined;
}

/** Runs `npm ci` if it is due and says so in one line on stderr. Exits the process with npm's code when that fails. */
export function ensureInstalled() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < nodeFloor[0] || (major === nodeFloor[0] && minor < nodeFloor[1])) {
    console.error(`Conclave needs Node ${nodeFloor.join('.')} or newer; this is ${process.versions.node}.`);
    process.exit(1);
  }
  const reason = reasonToInstall();
  if (!reason) return;
  const started = Date.now();
  console.error(`Installing dependencies with npm ci (${reason}); this takes about a minute ...`);
  const { status, stdout, stderr, error } = spawnSync('npm', ['ci', '--no-progress', '--loglevel=error'], {
    cwd: workspaceRoot,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(error?.message ?? `${stdout}${stderr}`);
    console.error('npm ci failed; see above. Conclave needs access to an npm registry for its first start.');
    process.exit(status ?? 1);
  }
  console.error(`Dependencies installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}
