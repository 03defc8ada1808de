// Installs the dependencies when they are missing or differ from the lockfile. Needs only Node and npm, so that
// `npm start` and `npm test` work on a fresh clone.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from './workspace.mjs';

/** Lowest Node that runs ES modules the way the workspace needs them; the same as `engines` in package.json. */
const nodeFloor = [20, 19];

/**
 * The npm arguments that install the missing packages, or undefined if none are missing. Development packages are installed only on request,
 * but then stay: a later `npm start` neither removes them nor lets them fall behind the lockfile.
 */
export function dueInstallation(wanted, installed, forDevelopers) {
  const isDev = ({ dev, devOptional }) => Boolean(dev ?? devOptional);
  const all = forDevelopers || Object.values(installed ?? {}).some(({ dev }) => dev);
  // Optional packages may be for another platform. A workspace package is a link, whose version is its own.
  const isDue = ([path, entry]) => {
    const present = installed?.[path];
    return present ? present.version !== entry.version : !entry.optional && !entry.peer && (all || !isDev(entry));
  };
  const packages = Object.entries(wanted).filter(([path]) => path.includes('node_modules/'));
  return packages.some(isDue) ? ['ci', ...(all ? [] : ['--omit=dev'])] : undefined;
}

/** Runs `npm ci` if needed and reports it in one line on stderr. Exits the process with npm's code when it fails. */
export function ensureInstalled({ forDevelopers = false } = {}) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < nodeFloor[0] || (major === nodeFloor[0] && minor < nodeFloor[1])) {
    console.error(`Conclave needs Node ${nodeFloor.join('.')} or newer; this is ${process.versions.node}.`);
    process.exit(1);
  }
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) => join(workspaceRoot, name));
  const packagesOf = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined);
  const due = dueInstallation(packagesOf(wanted), packagesOf(installed), forDevelopers);
  if (!due) return;
  const started = Date.now();
  console.error(`Installing dependencies with npm ${due.join(' ')}; this takes up to a minute ...`);
  const { status, stdout, stderr, error } = spawnSync('npm', [...due, '--no-progress', '--loglevel=error'], {
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
