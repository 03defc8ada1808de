import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from './settings.mjs';
import { run } from './processes.mjs';

/** The first Python on PATH may be too old, or lack the modules that create environments, which Debian packages separately. */
const pythons = ['python3', '/usr/bin/python3'];
const canMakeEnvironments = (python, oldest) =>
  spawnSync(python, ['-c', `import ensurepip, venv, sys; sys.exit(sys.version_info < (${oldest.join(', ')}))`], { timeout: 60_000 })
    .status === 0;

/**
 * A Python environment below the cache folder with exactly the packages of `requirements`, a file that lists every one of them; `purpose`
 * ends the sentence about a missing Python, `oldest` is the oldest accepted version. The folder name contains a digest of the requirements.
 */
export function pythonEnvironment({ name, requirements, purpose, oldest = [3, 10] }) {
  const environment = () => {
    const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 8);
    return path.join(cacheFolder, `${name}-${digest}`);
  };
  const pythonOf = (folder) => path.join(folder, 'bin', 'python');
  const suitable = () => pythons.find((python) => canMakeEnvironments(python, oldest));
  return {
    name,
    missing: () =>
      existsSync(environment()) || suitable()
        ? null
        : { reason: `no Python ${oldest.join('.')} or newer with venv found, which ${purpose}`, packages: ['python3-venv'] },
    /** Installs it at the first use. Safe to call from several processes at once. Returns the path of its Python. */
    async install() {
      const folder = environment();
      if (existsSync(folder)) return pythonOf(folder);
      const python = suitable();
      if (!python) throw new Error(`No Python ${oldest.join('.')} or newer with venv was found, which ${purpose}.`);
      mkdirSync(cacheFolder, { recursive: true });
      const incoming = mkdtempSync(`${folder}-incoming-`);
      // Modules are compiled when they are imported: compiling everything takes as long as fetching it.
      const options = ['--quiet', '--no-deps', '--no-compile', '--disable-pip-version-check', '--requirement', requirements];
      try {
        await run(python, ['-m', 'venv', incoming]);
        await run(pythonOf(incoming), ['-m', 'pip', 'install', ...options], { withinMs: 600_000 });
        // Python finds its environment by its own location, so the folder may be moved; its scripts are not used.
        if (!existsSync(folder)) renameSync(incoming, folder);
      } finally {
        rmSync(incoming, { recursive: true, force: true });
      }
      return pythonOf(folder);
    },
  };
}
