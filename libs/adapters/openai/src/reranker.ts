import { Failure } from '@conclave/contracts';
import { type JsonObject, wellFormed, type Reranker } from '@conclave/ports';
import type { ProviderConfig, RetrySettings } from './configuration.js';
import { ProviderRequests } from './provider-requests.js';
import type { FailedAttempt } from './upstream-failure.js';

export interface RerankerConfig {
  /** Name of the provider, for messages and the id of the reranker. */
  readonly name: string;
  /** The path `/rerank` is added to its base URL. */
  readonly provider: ProviderConfig;
  readonly model: string;
  readonly retry?: Partial<RetrySettings>;
}

/** Servers refuse an empty text. */
const emptyText = '(empty)';
/** Characters of one text; the models read a few hundred words of it. */
const longestText = 8_000;
/** Texts are cut no shorter than this, although a server calls them too long. */
const shortestCut = 200;

const textFor = (text: string, longest: number): string => (text.trim() === '' ? emptyText : wellFormed(text.slice(0, longest)));

/**
 * The reranker of a model server, POST /rerank in the form of Cohere, Jina, vLLM, llama.cpp and LiteLLM: `{model, query, documents,
 * top_n}`, `{results: [{index, relevance_score}]}`. Text Embeddings Inference expects `{query, texts}` and sends `[{index, score}]`: a server
 * that complains about missing `texts` gets that form from then on. Opens no connection by itself.
 */
export function openReranker(config: RerankerConfig): Reranker {
  return new RerankEndpoint(config);
}

class RerankEndpoint implements Reranker {
  readonly id: string;
  private readonly requests: ProviderRequests;
  private takesTexts = false;
  /** Characters of one text; fewer once the server has refused longer ones. */
  private longest = longestText;

  constructor(private readonly config: RerankerConfig) {
    this.id = `${config.model}@${config.name}`;
    this.requests = new ProviderRequests(config);
  }

  async score(query: string, texts: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<readonly number[]> {
    return this.requests.whileWanted(signal, async (wanted) => {
      if (texts.length === 0) return [];
      const { name } = this.config;
      return this.requests.post(
        {
          path: 'rerank',
          body: this.bodyOf(query, texts),
          brings: 'a ranking',
          prompts: [textFor(query, longestText), ...texts.map((text) => textFor(text, longestText))],
          read: (answer) => scoresOf(answer, texts.length, name),
          instead: (fault) => (this.concedes(fault, texts) ? this.bodyOf(query, texts) : null),
        },
        wanted,
      );
    });
  }

  private bodyOf(query: string, texts: readonly string[]): JsonObject {
    const asked = textFor(query, longestText);
    const documents = texts.map((text) => textFor(text, this.longest));
    return this.takesTexts
      ? { query: asked, texts: documents, truncate: true }
      : { model: this.config.model, query: asked, documents, top_n: documents.length };
  }

  /** Whether another form of the request may be accepted, which is used from then on. llama.cpp and vLLM do not cut long texts by themselves. */
  private concedes(fault: FailedAttempt, texts: readonly string[]): boolean {
    if (!this.takesTexts && missesTexts(fault)) return (this.takesTexts = true);
    if (fault.failure.code !== 'CONTEXT_OVERFLOW') return false;
    const longest = Math.min(this.longest, Math.max(...texts.map((text) => text.length)));
    if (longest <= shortestCut) return false;
    this.longest = Math.max(shortestCut, longest >> 1);
    return true;
  }

  /** Aborts running calls. */
  async close(): Promise<void> {
    this.requests.close();
  }
}

/** Whether the server refused the request because it has no member `texts`. */
const missesTexts = ({ status, said }: FailedAttempt): boolean =>
  (status === 400 || status === 422) && /\btexts\b/u.test(`${said.message} ${said.param}`);

type Loose = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null;

/**
 * The scores of a reply in the order of the texts. A text that the reply leaves out ranks after all others. Throws Failure
 * PROVIDER_REPLY_INVALID for a reply without a result, and for results that belong to no text or have no number.
 */
function scoresOf(answer: unknown, texts: number, provider: string): readonly number[] {
  const invalid = (detail: string): Failure => new Failure('PROVIDER_REPLY_INVALID', `Provider ${provider} ${detail}`);
  const results = isObject(answer) && !Array.isArray(answer) ? (answer['results'] ?? answer['data']) : answer;
  if (!Array.isArray(results) || results.length === 0) throw invalid('sent no ranking.');
  const scores = new Map<number, number>();
  for (const entry of results as readonly unknown[]) {
    const { index, relevance_score: relevance, score = relevance } = isObject(entry) ? entry : {};
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= texts || scores.has(index))
      throw invalid('sent a ranking that does not belong to the texts.');
    if (typeof score !== 'number' || !Number.isFinite(score)) throw invalid('sent a ranking without numbers.');
    scores.set(index, score);
  }
  const last = Math.min(...scores.values()) - 1;
  return Array.from({ length: texts }, (_, index) => scores.get(index) ?? last);
}
