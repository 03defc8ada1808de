import { setMaxListeners } from 'node:events';
import { Failure } from '@conclave/contracts';
import type { ModelInfo, Models, ProviderStatus } from '@conclave/ports';
import { defaultRetry, defaultTimeouts, splitRef, type KnownModel, type ProvidersConfig } from './configuration.js';
import { EmbeddingCalls } from './embedding-calls.js';
import { ProviderModels } from './model-list.js';
import { ProviderCalls } from './provider-calls.js';

/**
 * Models of any number of OpenAI-compatible servers. Opens no connection by itself.
 *
 * The slots of a provider count calls of this process only; the dispatcher enforces limits across processes.
 */
export function openProviders(config: ProvidersConfig): Models {
  const timeouts = { ...defaultTimeouts, ...config.timeouts };
  const retry = { ...defaultRetry, ...config.retry };
  const prices = config.models ?? {};
  const providers = new Map(
    Object.entries(config.providers).map(([name, provider]) => {
      const calls = new ProviderCalls(name, provider, timeouts, retry, config.onConceded);
      const embeddings = new EmbeddingCalls(name, provider, retry);
      return [name, { calls, embeddings, list: new ProviderModels(calls, prices, timeouts) }] as const;
    }),
  );
  const closing = new AbortController();
  // Every running call adds a listener and removes it at its end.
  setMaxListeners(Infinity, closing.signal);

  /** Runs `act` with a signal that also aborts on close. Removes its listeners, because the close signal outlives every call. */
  const whileOpen = async <T>(caller: AbortSignal, act: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const either = new AbortController();
    const abort = (): void => either.abort();
    const sources = [caller, closing.signal];
    for (const source of sources) source.addEventListener('abort', abort);
    if (sources.some((source) => source.aborted)) abort();
    try {
      return await act(either.signal);
    } finally {
      for (const source of sources) source.removeEventListener('abort', abort);
    }
  };

  const at = <T>(
    ref: string,
    caller: AbortSignal,
    act: (calls: ProviderCalls, model: string, signal: AbortSignal, known: KnownModel) => Promise<T>,
  ): Promise<T> => {
    const parts = splitRef(ref);
    const provider = parts && providers.get(parts.provider);
    if (!parts || !provider) return Promise.reject(new Failure('MODEL_NOT_FOUND', `No provider serves ${ref}.`));
    return whileOpen(caller, (signal) => act(provider.calls, parts.model, signal, prices[ref] ?? {}));
  };

  return {
    async list(): Promise<readonly ModelInfo[]> {
      const listings = await Promise.all([...providers.values()].map(({ list }) => list.read()));
      return listings.flatMap(({ models }) => models);
    },
    async providers(): Promise<readonly ProviderStatus[]> {
      const listings = await Promise.all([...providers.values()].map(({ list }) => list.read()));
      return listings.map(({ status }) => status);
    },
    call: (request, watch) =>
      at(request.model, watch.signal, (calls, model, signal, known) => calls.call(model, request, known, { ...watch, signal })),
    pass: (request, watch) =>
      at(request.model, watch.signal, (calls, model, signal, known) => calls.pass(model, request, known, { ...watch, signal })),
    embed(request, { signal }) {
      const parts = splitRef(request.model);
      const provider = parts && providers.get(parts.provider);
      if (!parts || !provider) return Promise.reject(new Failure('MODEL_NOT_FOUND', `No provider serves ${request.model}.`));
      const { price } = prices[request.model] ?? {};
      return whileOpen(signal, (wanted) => provider.embeddings.embed(parts.model, request, price, wanted));
    },
    /** Aborts running calls. */
    async close(): Promise<void> {
      closing.abort();
    },
  };
}
