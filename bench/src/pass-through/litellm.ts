import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Supervised } from '@conclave/test-support';
import { freePorts, workspaceRoot } from '@conclave/test-support/system';
import type { Closing } from '../processes/closing.js';
import type { Scratch } from '../processes/scratch.js';

/** An environment of deploy/stack/python-environment.mjs. */
interface PythonEnvironment {
  missing(): { readonly reason: string } | null;
  install(): Promise<string>;
}
/** Imported by its address, because bundled code would look for its files beside the bundle. */
async function loadEnvironment(): Promise<PythonEnvironment> {
  const file = join(workspaceRoot, 'deploy/stack/python-clients.mjs');
  return ((await import(pathToFileURL(file).href)) as { readonly pythonClients: PythonEnvironment }).pythonClients;
}

/**
 * The Python for which LiteLLM's proxy is installed, if a full run may install it; otherwise a sentence that says why it is not measured.
 */
export async function ensureLitellm(options: {
  readonly mayInstall: boolean;
  readonly progress: (text: string) => void;
}): Promise<{ readonly python: string } | { readonly missing: string }> {
  if (!options.mayInstall) return { missing: "LiteLLM's proxy is measured in a full run only (without --quick)." };
  const environment = await loadEnvironment();
  const lacking = environment.missing();
  if (lacking) return { missing: `LiteLLM's proxy is not measured: ${lacking.reason}.` };
  options.progress("installing LiteLLM's proxy, unless it is there");
  try {
    return { python: await environment.install() };
  } catch (error) {
    return { missing: `LiteLLM's proxy could not be installed: ${(error as Error).message}` };
  }
}

/** A running proxy of LiteLLM as its users start it: one worker, its own key, no database. `url` is its base URL, with /v1. */
export async function startLitellm(
  python: string,
  {
    modelUrl,
    model,
    scratch,
    closing,
  }: { readonly modelUrl: string; readonly model: string; readonly scratch: Scratch; readonly closing: Closing },
): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
  const port = (await freePorts(1))[0]!;
  const key = `sk-${randomBytes(24).toString('hex')}`;
  const folder = scratch.home('litellm', {
    model_list: [{ model_name: model, litellm_params: { model: `openai/${model}`, api_base: modelUrl, api_key: 'none' } }],
    general_settings: { master_key: 'os.environ/LITELLM_MASTER_KEY' },
  });
  const running = await Supervised.start({
    name: "LiteLLM's proxy",
    program: python,
    args: ['-m', 'litellm.proxy.proxy_cli', '--config', join(folder, 'conclave.yaml'), '--host', '127.0.0.1', '--port', String(port)],
    cwd: folder,
    // Without LITELLM_LOCAL_MODEL_COST_MAP it would download its list of prices.
    env: { LITELLM_MASTER_KEY: key, LITELLM_LOCAL_MODEL_COST_MAP: 'True', NODE_OPTIONS: undefined },
    ready: `http://127.0.0.1:${port}/health/liveliness`,
    readyTimeoutMs: 180_000,
  });
  closing.add(() => running.stop(10_000));
  return { url: `http://127.0.0.1:${port}/v1`, headers: { authorization: `Bearer ${key}` } };
}
