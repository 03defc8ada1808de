import type { JsonObject } from '../tools/tools.js';
import type { Usage } from '@conclave/contracts';
import type { BreakerSettings } from '../state/breaker.js';

/**
 * Language models behind OpenAI-compatible servers, or the built-in demo model. A model is named `model@provider`.
 */
export interface Models {
  /** Chat models available now, configured and discovered. Never throws: `providers()` reports unreachable providers. */
  list(): Promise<readonly ModelInfo[]>;
  providers(): Promise<readonly ProviderStatus[]>;
  /**
   * Makes one streamed call. `onDelta` gets text as it arrives, with thinking text separate from content. Resolves with the whole reply.
   * Throws Failure PROVIDER_*, CONTEXT_OVERFLOW, CALL_TIMEOUT, CALL_CANCELLED (signal aborted; the upstream connection is closed at once),
   * MODEL_NOT_FOUND without such a provider. Retries on its own, with jitter and honouring Retry-After, only while nothing was streamed;
   * `onRetry` reports each retry.
   */
  call(request: ModelCall, watch: CallWatch): Promise<ModelReply>;
  /**
   * Passes on a request that a client wrote itself: unknown parameters, tools and several choices pass through unchanged. Throws and
   * retries like `call`, but never drops or rewrites a parameter for the server; `options.upstream` of the Failure contains the server's
   * message about a request that it refuses (4xx).
   */
  pass(request: PassedRequest, watch: PassWatch): Promise<PassedReply>;
  /**
   * Vectors of texts by an embedding model, as its server sends them. Absent if there are no embedding models. Throws Failure like `pass`,
   * and PROVIDER_REPLY_INVALID unless there is one vector for each text.
   */
  embed?(request: EmbeddingCall, watch: { readonly signal: AbortSignal }): Promise<EmbeddingReply>;
  close(): Promise<void>;
}

/** Texts, or for each text the numbers of its tokens in the vocabulary of the model. */
export type EmbeddingInput = readonly string[] | readonly (readonly number[])[];

export interface EmbeddingCall {
  /** `model@provider` */
  readonly model: string;
  readonly input: EmbeddingInput;
  /** Requested numbers per vector; absent: the model's own. */
  readonly dimensions?: number;
  /** Maximum tries, as for a call. */
  readonly attempts?: number;
}
export interface EmbeddingReply {
  /** One per text, in order. */
  readonly vectors: readonly Float32Array[];
  readonly usage: Usage;
  readonly reportedModel: string | null;
  readonly durationMs: number;
}

/** Name of the provider of a model `model@provider`: what follows the last `@`, because names of models may contain one. */
export const providerNameOf = (ref: string): string => ref.slice(ref.lastIndexOf('@') + 1);

export interface ModelInfo {
  /** `model@provider` */
  readonly ref: string;
  readonly model: string;
  readonly provider: string;
  /** Context length in tokens, if known. */
  readonly context: number | null;
  readonly price: { readonly input: number; readonly output: number } | null;
  readonly local: boolean;
  readonly demo: boolean;
  /** Embedding models are never chosen as experts. */
  readonly kind: 'chat' | 'embedding';
  /** Parameters in billions, if the server reports them. */
  readonly parameters?: number;
  /** Whether it accepts images, if the server reports it. */
  readonly sees?: boolean;
}
export interface ProviderStatus {
  readonly name: string;
  readonly reachable: boolean;
  readonly local: boolean;
  /** Whether calls cost money. */
  readonly paid: boolean;
  readonly note: string;
  readonly maxConcurrency: number;
  /** Its address without credentials; absent if there is no server. */
  readonly baseUrl?: string;
  /** When the breaker of the provider opens; absent for a provider that cannot fail by itself. */
  readonly breaker?: BreakerSettings;
}

export interface CallMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** The text of the message, also when `parts` repeat it. */
  readonly content: string;
  /** Sent instead of `content`: text, images and files as OpenAI content parts. */
  readonly parts?: readonly CallContentPart[];
}
/** One of OpenAI's content parts, such as `{"type": "image_url", "image_url": {"url": "data:image/png;base64,..."}}`. */
export interface CallContentPart {
  readonly type: string;
  readonly [member: string]: unknown;
}
export interface ModelCall {
  readonly model: string;
  readonly messages: readonly CallMessage[];
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly responseFormat?: Readonly<Record<string, unknown>>;
  /**
   * Like `responseFormat`, but optional: if the server refuses a `json_schema`, the call is retried with `json_object`, then without a
   * format.
   */
  readonly wishedFormat?: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** Maximum tries of the call, the first one included; the adapter's own bound applies if it is lower or this is absent. */
  readonly attempts?: number;
}
export interface CallWatch {
  readonly signal: AbortSignal;
  readonly onDelta?: (delta: { readonly content?: string; readonly reasoning?: string }) => void;
  readonly onRetry?: (retry: { readonly attempt: number; readonly afterMs: number; readonly code: string }) => void;
}
export interface PassedRequest {
  /** `model@provider` */
  readonly model: string;
  /** Body of POST /chat/completions; its `model` is replaced, and usage is requested in addition to its stream options. */
  readonly body: JsonObject;
  readonly timeoutMs: number;
  /** Maximum tries, as for a call. */
  readonly attempts?: number;
}
export interface PassWatch extends CallWatch {
  /** Gets each chunk as the server sent it, if the body asks for a stream; usage only if its stream options ask for it. */
  readonly onChunk?: (chunk: JsonObject) => void;
}
export interface PassedReply extends ModelReply {
  /** The reply as the server sent it; null if it was streamed. */
  readonly body: JsonObject | null;
}
export interface ModelReply {
  /** Answer text without thinking text. */
  readonly content: string;
  readonly reasoning: string;
  /** `repetition`: its caller ended the call, because the model repeated itself; no server says so. */
  readonly finishReason: 'stop' | 'length' | 'repetition' | 'content_filter' | 'tool_calls' | 'unknown';
  /** Characters that the model had repeated when its call was ended for that. */
  readonly repeated?: number;
  readonly usage: Usage;
  readonly reportedModel: string | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}
