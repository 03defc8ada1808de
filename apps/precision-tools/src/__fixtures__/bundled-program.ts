import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const banner = `import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);`;

/** The program from today's sources in one file, as it ships: entry of the process and of its threads. */
export function bundledProgram(): { file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-precision-tools-'));
  const file = join(folder, 'main.mjs');
  const options = ['--bundle', '--platform=node', '--format=esm', '--target=node20.19', '--keep-names', '--conditions=@conclave/source', `--banner:js=${banner}`, '--footer:js=await start(import.meta.url);', `--outfile=${file}`, '--log-level=error']; // prettier-ignore
  execFileSync(path('../../../../node_modules/esbuild/bin/esbuild'), [path('../start.ts'), ...options]);
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
