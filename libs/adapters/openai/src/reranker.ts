import { Failure } from '@conclave/contracts';
import { wellFormed, type Reranker } from '@conclave/ports';
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

const textFor = (text: string): string => (text.trim() === '' ? emptyText : wellFormed(text.slice(0, longestText)));

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

  constructor(private readonly config: RerankerConfig) {
    this.id = `${config.model}@${config.name}`;
    this.requests = new ProviderRequests(config);
  }

  async score(query: string, texts: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<readonly number[]> {
    return this.requests.whileWanted(signal, async (wanted) => {
      if (texts.length === 0) return [];
      const { model, name } = this.config;
      const asked = textFor(query);
      const documents = texts.map(textFor);
      const byDocuments = { model, query: asked, documents, top_n: documents.length };
      const byTexts = { query: asked, texts: documents, truncate: true };
      return this.requests.post(
        {
          path: 'rerank',
          body: this.takesTexts ? byTexts : byDocuments,
          brings: 'a ranking',
          prompts: [asked, ...documents],
          read: (answer) => scoresOf(answer, documents.length, name),
          instead: (fault) => {
            if (this.takesTexts || !missesTexts(fault)) return null;
            this.takesTexts = true;
            return byTexts;
          },
        },
        wanted,
      );
    });
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
