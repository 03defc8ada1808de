import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

const node = (args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    // A benchmark must not inherit NODE_OPTIONS and NODE_ENV of the test runner.
    const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: '' };
    const child = execFile(process.execPath, [...args], { cwd: root, env, maxBuffer: 4_000_000, timeout: 300_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode, text: out + err }),
    );
  });

/** Benchmarks run the built product. */
export async function buildWorkspace(): Promise<void> {
  const { code, text } = await node(['tools/build.mjs']);
  if (code !== 0) throw new Error(text);
}

/** `npm run bench -- <args>` without npm. Throws when the output names the host. */
export async function runBench(args: readonly string[]): Promise<Ended> {
  const ended = await node(['dist/bench.js', ...args]);
  if (hostname().length > 3 && ended.text.includes(hostname())) throw new Error('The report names the host.');
  return ended;
}

/** Total bytes of a built program and the files it imports statically; lazy imports are not counted. */
export function importedBy(program: string): number {
  const files = new Map<string, string>();
  const read = (name: string): void => {
    if (files.has(name)) return;
    const code = readFileSync(join(root, 'dist', name), 'utf8');
    files.set(name, code);
    for (const [, imported] of code.matchAll(/(?:^|[;}])(?:import|export)[^;"']*["']\.\/([^"']+)["']/gm)) read(imported!);
  };
  read(`${program}.js`);
  read(/import\("\.\/(start-[^"]+)"\)/.exec(files.get(`${program}.js`)!)![1]!);
  return [...files.values()].reduce((sum, code) => sum + code.length, 0);
}
