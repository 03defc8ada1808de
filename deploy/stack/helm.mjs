import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder, deployFolder } from './settings.mjs';
import { run } from './processes.mjs';

const requirements = path.join(deployFolder, 'helm', 'requirements.txt');

/** Folder of the Python environment with Helm's engine, named after what is installed in it. */
const environment = () => {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 8);
  return path.join(cacheFolder, `helm-${digest}`);
};
const pythonOf = (folder) => path.join(folder, 'bin', 'python');

/** The first on PATH may be without the parts that make environments, which Debian packs apart. */
const pythons = ['python3', '/usr/bin/python3'];
const canMakeEnvironments = (python) =>
  spawnSync(python, ['-c', 'import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 10))'], { timeout: 60_000 }).status === 0;

/** Helm's engine as a Python package: renders and lints charts, and checks objects by the schemas of Kubernetes. */
export const helm = {
  name: 'helm',
  missing: () =>
    existsSync(environment()) || pythons.some(canMakeEnvironments)
      ? null
      : { reason: 'no Python 3.10 or newer with venv found, which runs the engine of Helm', packages: ['python3-venv'] },
  /** Installs it at the first use. Safe to call from several processes at once. Returns the path of its Python. */
  async install() {
    const folder = environment();
    if (existsSync(folder)) return pythonOf(folder);
    const python = pythons.find(canMakeEnvironments);
    mkdirSync(cacheFolder, { recursive: true });
    const incoming = mkdtempSync(`${folder}-incoming-`);
    try {
      await run(python, ['-m', 'venv', incoming]);
      await run(pythonOf(incoming), ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', requirements], { withinMs: 300_000 });
      // Python finds its environment by its own place, so the folder may be moved; its scripts are not used.
      if (!existsSync(folder)) renameSync(incoming, folder);
    } finally {
      rmSync(incoming, { recursive: true, force: true });
    }
    return pythonOf(folder);
  },
};

/**
 * Renders the chart of `deploy/helm/conclave` once for each release, without a cluster: `{ name, namespace, values }` with the text of a
 * values file. Returns for each what `deploy/helm/render.py` prints.
 */
export async function renderChart(releases, kubernetes = ['1.27', '1.31', '1.35']) {
  const python = await helm.install();
  const folder = path.join(deployFolder, 'helm');
  const input = JSON.stringify({ chart: path.join(folder, 'conclave'), kubernetes, releases });
  return JSON.parse(await run(python, [path.join(folder, 'render.py')], { input, withinMs: 120_000 }));
}
