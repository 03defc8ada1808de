import type { Usage } from '@conclave/contracts';
import type { BreakerSettings } from '../state/breaker.js';

/**
 * Language models behind OpenAI-compatible servers, or the built-in demo model. A model is named `model@provider`.
 */
export interface Models {
  /** Chat models that can be called now, configured and discovered. Never throws: an unreachable provider is in `providers()`. */
  list(): Promise<readonly ModelInfo[]>;
  providers(): Promise<readonly ProviderStatus[]>;
  /**
   * One call, streamed. `onDelta` gets text as it arrives, thinking text apart from content. Resolves with the whole reply.
   * Throws Failure PROVIDER_*, CONTEXT_OVERFLOW, CALL_TIMEOUT, CALL_CANCELLED (signal aborted; the upstream connection is closed at once), MODEL_NOT_FOUND.
   * Retries by itself, with jitter and honouring Retry-After, only while nothing was streamed; `onRetry` tells each one.
   */
  call(request: ModelCall, watch: CallWatch): Promise<ModelReply>;
  /**
   * One request that a client wrote itself, passed on as it is: parameters nobody here knows, tools and several choices come and go
   * untouched. Throws and repeats as `call` does, and nothing is left out or said differently for the server's sake; what the server
   * says about a request it refuses (4xx) stands in `options.upstream` of the Failure.
   */
  pass(request: PassedRequest, watch: PassWatch): Promise<PassedReply>;
  close(): Promise<void>;
}

export interface ModelInfo {
  /** `model@provider` */
  readonly ref: string;
  readonly model: string;
  readonly provider: string;
  /** Context length in tokens, where known. */
  readonly context: number | null;
  readonly price: { readonly input: number; readonly output: number } | null;
  readonly local: boolean;
  readonly demo: boolean;
  /** Chat models answer; embedding models are never chosen as experts. */
  readonly kind: 'chat' | 'embedding';
  /** Parameters in billions, where its server says so. */
  readonly parameters?: number;
  /** Whether it takes images, where its server says so. */
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
  /** When it is left alone for a while; absent where it cannot be unwell apart from us. */
  readonly breaker?: BreakerSettings;
}

export interface CallMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** The text of the message, also where `parts` say it again. */
  readonly content: string;
  /** Sent in the place of `content`: text, images and files in the shape of OpenAI's content parts. */
  readonly parts?: readonly ContentPart[];
}
/** One of OpenAI's content parts, such as `{"type": "image_url", "image_url": {"url": "data:image/png;base64,..."}}`. */
export interface ContentPart {
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
  /** As `responseFormat`, without which the call can be made as well: a `json_schema` that the server refuses is said as `json_object`, then left out. */
  readonly wishedFormat?: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** Tries the call may take, the first one included; the adapter's own bound where it is lower or this is absent. */
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
  /** Body of POST /chat/completions; its `model` is replaced, and usage is asked for beside what its stream options say. */
  readonly body: JsonBody;
  readonly timeoutMs: number;
}
export type JsonBody = Readonly<Record<string, unknown>>;
export interface PassWatch extends Omit<CallWatch, 'onDelta'> {
  /** Each chunk as the server sent it, where the body asks for a stream; usage only where its stream options ask for it. */
  readonly onChunk?: (chunk: JsonBody) => void;
}
export interface PassedReply extends ModelReply {
  /** The reply as the server sent it; null where it was given chunk by chunk. */
  readonly body: JsonBody | null;
}
export interface ModelReply {
  /** Answer text, thinking text taken out. */
  readonly content: string;
  readonly reasoning: string;
  readonly finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'unknown';
  readonly usage: Usage;
  readonly reportedModel: string | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}
