import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Supervised } from '@conclave/test-support';
import { freePorts, workspaceRoot } from '@conclave/test-support/system';
import { installPackages } from '../processes/install-packages.js';
import type { Closing } from '../processes/closing.js';

const folder = join(workspaceRoot, 'bench/portkey');
const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
const isInstalled = (): boolean => existsSync(program);

/** Installs Portkey's gateway if missing. Returns null if it is installed, otherwise a sentence that says why not. */
export async function ensurePortkey(options: {
  readonly mayInstall: boolean;
  readonly progress: (text: string) => void;
}): Promise<string | null> {
  return installPackages({ name: "Portkey's gateway", folder, isInstalled, ...options });
}

/** A running gateway of Portkey as its users start it, without its console. `url` is its base URL, with /v1. */
export async function startPortkey(closing: Closing): Promise<{ readonly url: string }> {
  const port = (await freePorts(1))[0]!;
  const running = await Supervised.start({
    name: "Portkey's gateway",
    args: [program, '--headless', `--port=${port}`],
    cwd: folder,
    env: { NODE_ENV: 'production' },
    ready: `http://127.0.0.1:${port}/`,
    readyTimeoutMs: 60_000,
  });
  closing.add(() => running.stop(10_000));
  return { url: `http://127.0.0.1:${port}/v1` };
}

/** Headers that send a request of Portkey's gateway to the model server at `modelUrl`. */
export const portkeyHeaders = (modelUrl: string): Readonly<Record<string, string>> => ({
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': modelUrl,
});
