import { type EmbeddingCall, type EmbeddingReply, wellFormed } from '@conclave/ports';
import type { ModelPrice, ProviderConfig, RetrySettings } from './configuration.js';
import { type EmbeddingUsage, usageOf } from './embedding-usage.js';
import { vectorsOf } from './embeddings.js';
import { ProviderRequests } from './provider-requests.js';
import { asRefused } from './upstream-failure.js';

/** Requests of clients for the vectors of one server's models. */
export class EmbeddingCalls {
  private readonly requests: ProviderRequests;

  constructor(
    private readonly name: string,
    private readonly provider: ProviderConfig,
    retry: RetrySettings,
  ) {
    this.requests = new ProviderRequests({ name, provider, retry });
  }

  /** Throws CALL_CANCELLED, CALL_TIMEOUT, PROVIDER_*; a refusal contains the server's message. */
  async embed(
    model: string,
    { input, dimensions, attempts }: EmbeddingCall,
    price: ModelPrice | undefined,
    signal: AbortSignal,
  ): Promise<EmbeddingReply> {
    const began = performance.now();
    const sent = input.map((one) => (typeof one === 'string' ? wellFormed(one) : one));
    // Not every server supports base64.
    const body = { model, input: sent, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) };
    const answer = await this.requests.whileWanted(signal, (wanted) =>
      this.requests.post(
        {
          ...{ path: 'embeddings', body, brings: 'embeddings', prompts: sent.filter((one) => typeof one === 'string') },
          ...(attempts === undefined ? {} : { attempts }),
          read: (said) => ({ vectors: vectorsOf(said, sent.length, this.name), said: said as EmbeddingUsage }),
          refused: (fault) => asRefused(fault, this.provider.api_key),
        },
        wanted,
      ),
    );
    const { vectors, said } = answer;
    return { vectors, usage: usageOf(said, input, price), reportedModel: said.model ?? null, durationMs: performance.now() - began };
  }
}
