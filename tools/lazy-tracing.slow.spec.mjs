import { join } from 'node:path';
import { expect, it, jest } from '@jest/globals';
import { build } from 'esbuild';
import { programOptions } from './build.mjs';
import { filesUnder, workspaceRoot } from './workspace.mjs';

jest.setTimeout(120_000);

const isTracing = (path) => path.includes('node_modules/@opentelemetry/');

/** Sources in an output and in every output that it imports at once. */
function readAtOnce(outputs, path, seen = new Set()) {
  if (seen.has(path)) return [];
  seen.add(path);
  const { inputs, imports } = outputs[path];
  const at = imports.filter(({ kind, external }) => kind !== 'dynamic-import' && !external);
  return [...Object.keys(inputs), ...at.flatMap((one) => readAtOnce(outputs, one.path, seen))];
}

it('no program reads OpenTelemetry before traces are requested, and the exporter is complete when they are', async () => {
  const starts = filesUnder('apps').filter((path) => /\/src\/start\.ts$/.test(path));
  expect(starts.length).toBeGreaterThan(5);
  const entryPoints = Object.fromEntries(starts.map((path) => [path.split('/')[1], join(workspaceRoot, path)]));
  const { metafile } = await build({ ...programOptions, entryPoints, outdir: join(workspaceRoot, 'dist') });
  const { outputs } = metafile;
  for (const name of Object.keys(entryPoints)) {
    const read = readAtOnce(outputs, `dist/${name}.js`);
    expect([name, read.length > 0, read.filter(isTracing)]).toEqual([name, true, []]);
  }
  const adapter = Object.keys(outputs).find((path) => outputs[path].entryPoint?.includes('adapters/opentelemetry'));
  const parts = readAtOnce(outputs, adapter).filter(isTracing);
  for (const name of ['exporter-trace-otlp-http', 'otlp-exporter-base', 'otlp-transformer', 'sdk-trace', 'api'])
    expect([name, parts.some((path) => path.includes(`@opentelemetry/${name}/`))]).toEqual([name, true]);
});
