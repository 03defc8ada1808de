import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HistoryWriter, readHistory, ScriptedModelServer, Supervised, until } from '@conclave/test-support';
import { cleared, freePorts, providerKey, readRun, twoHops, workspaceRoot } from '@conclave/test-support/system';
import { committee, goodManners } from './committee.js';
import { contentOf, type FolderContent } from './folder-content.js';
import type { World } from './world.js';

/**
 * Starts the product on a copy of a data folder, with a separate model server and history, which do not affect the world's own system and
 * its evidence. Throws unless it becomes ready, ends every open run, keeps every record and repeats no finished call.
 */
export async function secondLife(
  world: World,
  home: string,
  before: FolderContent,
): Promise<{ readonly runs: number; readonly calls: number; readonly readyMs: number }> {
  const file = `${home}-history.ndjson`;
  writeFileSync(file, '');
  const models = await ScriptedModelServer.start({
    models: ['scripted', 'other'],
    apiKey: providerKey,
    script: committee(() => goodManners, twoHops()),
    history: new HistoryWriter(file, 'test', 'model'),
  });
  const configuration = `${home}.yaml`;
  const own = readFileSync(join(world.system.folder, 'conclave.yaml'), 'utf8');
  writeFileSync(configuration, own.replaceAll(new URL(world.system.models.url).host, new URL(models.url).host));
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const process = await Supervised.start({
    name: 'standalone on a torn file',
    args: [join(workspaceRoot, 'dist/standalone.faults.js')],
    cwd: world.system.folder,
    env: {
      ...cleared,
      ...world.system.environment(),
      CONCLAVE_HOME: home,
      CONCLAVE_CONFIG: configuration,
      HISTORY_FILE: file,
      PORT: String(port),
    },
    ready: `${url}/health/ready`,
    readyTimeoutMs: 40_000,
  });
  const readyMs = Math.round(performance.now() - began);
  try {
    for (const runId of before.open)
      await until(`the end of ${runId}`, async () => (await readRun(url, runId)).terminal, { timeoutMs: 40_000, everyMs: 100 });
  } finally {
    await process.stop(10_000);
    await models.close();
  }
  const finished = new Set(before.finishedCalls);
  const repeated = readHistory(file).filter(({ op, phase, id }) => op === 'call' && phase === 'invoke' && finished.has(id));
  if (repeated.length > 0) throw new Error(`Finished calls were made again: ${repeated.map(({ id }) => id).join(', ')}`);
  const after = contentOf(home);
  const lost = before.records.filter((record, n) => after.records[n] !== record);
  if (lost.length > 0) throw new Error(`Records are gone after the start: ${lost.slice(0, 3).join('; ')}`);
  if (models.violations().length > 0) throw new Error(`The second start asked something unexpected: ${models.violations()[0]}`);
  return { runs: before.open.length, calls: models.calls.length, readyMs };
}
