import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { workspaceRoot } from '@conclave/test-support/system';

/** Open WebUI includes both libraries; Debian has packages of them for its own Python. */
export const python = [process.env['OPEN_WEBUI_PYTHON'] ?? '/usr/bin/python3', 'python3'].find(
  (one) => spawnSync(one, ['-c', 'import aiohttp, pydantic'], { timeout: 60_000 }).status === 0,
);
const functions = join(workspaceRoot, 'deploy/open-webui');

/** What the function did: an event, a chunk of its answer, its result, or its models. */
export interface Said {
  readonly event?: { readonly type: string; readonly data: Record<string, unknown> };
  readonly line?: {
    readonly error?: { readonly message: string };
    readonly choices?: readonly { readonly delta: { readonly content?: string }; readonly finish_reason: string | null }[];
    readonly usage?: object;
  };
  readonly result?: { readonly choices: readonly { readonly message: { readonly content: string } }[] } | null;
  readonly models?: readonly { readonly id: string }[];
}

/** Lets real Python call a function of a file as Open WebUI does. Resolves when it has ended. */
export function called(file: string, asked: object, valves: object): Promise<readonly Said[]> {
  const child = spawn(python!, [join(import.meta.dirname, 'stand_in.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  const all: Said[] = [];
  let [rest, errors] = ['', ''];
  child.stderr.on('data', (part) => (errors += String(part)));
  child.stdout.on('data', (part) => {
    const lines = (rest + String(part)).split('\n');
    rest = lines.pop()!;
    all.push(...lines.map((line) => JSON.parse(line) as Said));
  });
  child.stdin.end(JSON.stringify({ file: join(functions, file), ...asked, valves }));
  return new Promise((resolve, reject) => child.once('close', (code) => (code === 0 ? resolve(all) : reject(new Error(errors)))));
}
