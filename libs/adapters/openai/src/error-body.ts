/** A server's error about a failed call. `code` may be the status as text, which some servers repeat there. */
export interface UpstreamError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string;
  /** Milliseconds to wait before the next request, if the body says so; the headers of the reply take precedence. */
  readonly afterMs?: number;
}

const longestBody = 65_536;

const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : value ? JSON.stringify(value) : '';

/**
 * The error in a body of any usual shape: `{error: {message, type, code}}` (OpenAI, llama.cpp, newer vLLM), `{error: "text"}`
 * (Ollama, LM Studio), `{object: "error", message, type, code}` (older vLLM), `{detail}` (FastAPI;
 * its validation returns a list of `{msg, type, loc}`), any of these in a list (Gemini), or plain text.
 */
export function readError(body: unknown): UpstreamError {
  if (Array.isArray(body)) return readError(body[0]);
  if (typeof body !== 'object' || body === null) return { message: text(body), type: '', code: '', param: '' };
  const outer = body as Record<string, unknown>;
  if (typeof outer['error'] === 'object' && outer['error'] !== null) return readError(outer['error']);
  const [fault] = Array.isArray(outer['detail']) ? (outer['detail'] as unknown[]) : [];
  if (typeof fault === 'object' && fault !== null && 'msg' in fault) {
    const { msg, type, loc } = fault as Record<string, unknown>;
    return { message: text(msg), type: text(type), code: '', param: Array.isArray(loc) ? text(loc.at(-1)) : '' };
  }
  const afterMs = retryDelayMs(outer['details']);
  return {
    message: withCause(text(outer['error'] ?? outer['message'] ?? outer['detail']), outer['metadata']),
    // Google's APIs call it `status`.
    type: text(outer['type'] ?? (typeof outer['status'] === 'string' ? outer['status'] : undefined)),
    code: text(outer['code']),
    param: text(outer['param']),
    ...(afterMs === null ? {} : { afterMs }),
  };
}

/** Routers such as OpenRouter answer “Provider returned error”, and add what the provider behind them said. */
function withCause(message: string, metadata: unknown): string {
  const { raw, provider_name: provider } = (metadata ?? {}) as { raw?: unknown; provider_name?: unknown };
  const cause = typeof raw === 'string' ? errorIn(raw).message : raw ? readError(raw).message : '';
  if (cause === '' || message.includes(cause)) return message;
  return `${message}${typeof provider === 'string' && provider !== '' ? ` (${provider})` : ''}: ${cause}`;
}

/** `google.rpc.RetryInfo` in the details of an error, such as `{"retryDelay": "23.5s"}`. */
function retryDelayMs(details: unknown): number | null {
  if (!Array.isArray(details)) return null;
  for (const detail of details as unknown[]) {
    const delay = (detail as { retryDelay?: unknown } | null)?.retryDelay;
    const [, seconds] = typeof delay === 'string' ? (/^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(delay) ?? []) : [];
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1_000);
  }
  return null;
}

/** The error in the text of a failed reply. */
export function errorIn(text: string): UpstreamError {
  let body: unknown = text.slice(0, longestBody);
  try {
    body = JSON.parse(text);
  } catch {
    // Not JSON: the text itself is the error.
  }
  return readError(body);
}

/** The first 64 KB of a failed reply; what follows is not read. */
export async function firstBytes(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= longestBody) break;
  }
  return Buffer.concat(parts).subarray(0, longestBody).toString('utf8');
}
