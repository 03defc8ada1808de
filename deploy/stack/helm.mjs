import path from 'node:path';
import { deployFolder } from './settings.mjs';
import { run } from './processes.mjs';
import { pythonEnvironment } from './python-environment.mjs';

/** Helm's engine as a Python package: renders and lints charts, and checks objects against the schemas of Kubernetes. */
export const helm = pythonEnvironment({
  name: 'helm',
  requirements: path.join(deployFolder, 'helm', 'requirements.txt'),
  purpose: 'runs the engine of Helm',
});

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
