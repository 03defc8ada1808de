import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import { Failure, type FailureCode } from '@conclave/contracts';
import type { CallWatch, ModelCall, Models } from '@conclave/ports';
import { ScriptedModelServer, type ScriptedStep } from '@conclave/test-support';
import type { ProviderConfig, ProvidersConfig } from '../configuration.js';
import { openProviders } from '../providers.js';

/** Run after each test. */
export const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

export const retry = { base_ms: 1, cap_ms: 5 };
const provider = (base_url: string, rest: Partial<ProviderConfig> = {}): ProviderConfig => ({
  base_url,
  local: false,
  paid: false,
  ...rest,
});
export function open(base_url: string, rest: Partial<ProviderConfig> = {}, config: Partial<ProvidersConfig> = {}): Models {
  const models = openProviders({ providers: { p: provider(base_url, rest) }, retry, ...config });
  closing.push(() => models.close());
  return models;
}
export async function scripted(...script: ScriptedStep[]): Promise<ScriptedModelServer> {
  const server = await ScriptedModelServer.start({ script });
  closing.push(() => server.close());
  return server;
}
/** A plain HTTP server, for replies that no well-behaved server sends. Returns its address with /v1. */
export async function bare(handle: (request: IncomingMessage, response: ServerResponse, body: string) => void): Promise<string> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (part: string) => (body += part))
      .on('end', () => handle(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
export const fixture = (name: string): string => readFileSync(new URL(`./${name}.sse`, import.meta.url), 'utf8');

export const ask = (text = 'hello', rest: Partial<ModelCall> = {}): ModelCall => ({
  model: 'm@p',
  messages: [{ role: 'user', content: text }],
  timeoutMs: 5_000,
  ...rest,
});
export const watch = (rest: Partial<CallWatch> = {}): CallWatch => ({ signal: new AbortController().signal, ...rest });
export const failureOf = (call: Promise<unknown>): Promise<Failure> =>
  call.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error: unknown) => (error instanceof Failure ? error : Promise.reject(error)),
  );
export const codeOf = async (call: Promise<unknown>): Promise<FailureCode> => (await failureOf(call)).code;
