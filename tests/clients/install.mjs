// Installs the clients of this folder if they are missing or differ from its lockfile.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dueInstallation } from '../../tools/ensure-installed.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const packagesOf = (name) => {
  const file = join(folder, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : undefined;
};
if (dueInstallation(packagesOf('package-lock.json'), packagesOf('node_modules/.package-lock.json'), true)) {
  const options = { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32', timeout: 240_000 };
  const { status, stdout, stderr } = spawnSync('npm', ['ci', '--no-progress', '--loglevel=error'], options);
  if (status !== 0) {
    console.error(`The clients could not be installed: ${stdout ?? ''}${stderr ?? ''}`);
    process.exit(status ?? 1);
  }
}
