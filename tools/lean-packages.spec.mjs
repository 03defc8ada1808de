import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { leanPackages } from './lean-packages.mjs';
import { workspaceRoot } from './workspace.mjs';

it('keeps in the bundle the parts of ioredis that the Redis adapter uses: one server, and a cluster', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lean-'));
  const outfile = join(folder, 'bundle.cjs');
  try {
    const contents = "import { Redis } from 'ioredis'; console.log(typeof Redis, typeof Redis.Cluster);";
    await build({
      stdin: { contents, resolveDir: join(workspaceRoot, 'libs/adapters/redis') },
      bundle: true,
      format: 'cjs',
      platform: 'node',
      plugins: [leanPackages],
      outfile,
      logLevel: 'silent',
    });
    expect(spawnSync(process.execPath, [outfile], { encoding: 'utf8', timeout: 20_000 }).stdout).toBe('function function\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
