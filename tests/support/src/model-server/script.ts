/** Body of POST /v1/chat/completions as the server received it. */
export interface ScriptedRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly stream: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Number of the call on this server, from 1. */
  readonly n: number;
}

/** A part of a streamed answer; the server waits `afterMs` before it. */
export interface ScriptedChunk {
  readonly text?: string;
  readonly reasoning?: string;
  readonly afterMs?: number;
  /** Waits until the test resolves it. */
  readonly when?: Promise<unknown>;
}

export interface ScriptedUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export type ScriptedReply =
  /** `words: true` streams word by word, otherwise the text is one chunk. */
  | {
      readonly text: string;
      readonly words?: boolean;
      readonly reasoning?: string;
      readonly usage?: ScriptedUsage | null;
      readonly finish?: string;
    }
  | { readonly chunks: readonly ScriptedChunk[]; readonly usage?: ScriptedUsage | null; readonly finish?: string }
  /** An answer that is not a completion; `body` may be any text, even broken JSON. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | object }
  /** Sends these chunks, then nothing more until the caller goes away. */
  | { readonly stallAfter: readonly ScriptedChunk[] }
  /** Sends these chunks, then ends (`cleanly`) or cuts the connection. */
  | { readonly truncateAfter: readonly ScriptedChunk[]; readonly cleanly?: boolean }
  /** Takes the request and never answers; ends when the caller goes away. */
  | { readonly hang: true };

export type Match = string | RegExp | { readonly [role: string]: string | RegExp } | ((request: ScriptedRequest) => boolean);

export interface ScriptedStep {
  /** For messages of the test. */
  readonly name?: string;
  /** A text that some message contains, texts by role (all must match), or a predicate. */
  readonly match: Match;
  readonly reply: ScriptedReply | ((request: ScriptedRequest) => ScriptedReply);
  /** How often the step answers: once by default. `Infinity` for any number. */
  readonly times?: number;
}

export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part) => (typeof (part as { text?: unknown }).text === 'string' ? (part as { text: string }).text : '')).join('')
      : '';

const contains = (text: string, wanted: string | RegExp): boolean =>
  typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);

export function matches(match: Match, request: ScriptedRequest): boolean {
  if (typeof match === 'function') return match(request);
  const any = (wanted: string | RegExp, role: string | null): boolean =>
    request.messages.some((message) => (role === null || message.role === role) && contains(textOf(message.content), wanted));
  if (typeof match === 'string' || match instanceof RegExp) return any(match, null);
  return Object.entries(match).every(([role, wanted]) => any(wanted, role));
}
