import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const esbuild = fileURLToPath(new URL('../../../../../node_modules/esbuild/bin/esbuild', import.meta.url));
const entry = fileURLToPath(new URL('./thread.ts', import.meta.url));
const banner = `import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);`;

/** The thread's program from today's sources in one file that Node can run: a thread cannot load TypeScript. */
export function bundledThread(): { file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-precision-'));
  const file = join(folder, 'thread.mjs');
  execFileSync(
    esbuild,
    [
      entry,
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--target=node20.19',
      `--banner:js=${banner}`,
      `--outfile=${file}`,
      '--log-level=error',
    ],
    { timeout: 60_000 },
  );
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
