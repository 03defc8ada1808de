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

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * The error in a body of any usual shape: `{error: {message, type, code}}` (OpenAI, llama.cpp, newer vLLM), `{error: "text"}`
 * (Ollama, LM Studio), `{object: "error", message, type, code}` (older vLLM), `{detail}` (FastAPI;
 * its validation returns a list of `{msg, type, loc}`), such a list as the message or as JSON in it (Mistral), `{detail: {msg, type}}`
 * (KoboldCpp), `{errors: [{message, code}]}` (Cloudflare), any of these in a list (Gemini), or plain text.
 */
export function readError(body: unknown): UpstreamError {
  if (Array.isArray(body)) return readError(body[0]);
  if (!isHolder(body)) return { message: text(body), type: '', code: '', param: '' };
  const outer = body as Record<string, unknown>;
  const { errors, detail, message } = outer;
  if (isHolder(outer['error'])) return readError(outer['error']);
  if (Array.isArray(errors) && isHolder(errors[0])) return readError(errors[0]);
  if (isHolder(detail) && !(Array.isArray(detail) && detail.length === 0)) return readError(detail);
  if ('msg' in outer) {
    const { msg, type, loc } = outer;
    return { message: text(msg), type: text(type), code: '', param: Array.isArray(loc) ? text(loc.at(-1)) : '' };
  }
  const inner = isHolder(message) ? message : holderIn(message);
  if (inner) return readError(inner);
  const afterMs = retryDelayMs(outer['details']) ?? resetMs(outer['metadata']) ?? loadingMs(outer) ?? saidMs(outer);
  return {
    message: withCause(text(outer['error'] ?? message ?? detail), outer['metadata']),
    // Google's APIs call it `status`.
    type: text(outer['type'] ?? (typeof outer['status'] === 'string' ? outer['status'] : undefined)),
    code: text(outer['code']),
    param: text(outer['param']),
    ...(afterMs === null ? {} : { afterMs }),
  };
}

/** The list of faults that Mistral's proxy writes as JSON into its message; null for any other text. */
function holderIn(message: unknown): object | null {
  if (typeof message !== 'string' || !/^\s*\{\s*"(?:detail|error|errors)"\s*:/.test(message)) return null;
  try {
    return JSON.parse(message) as object;
  } catch {
    return null;
  }
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

/** When the limit ends whose headers OpenRouter repeats in its error: milliseconds of an hour, or the end of the day. */
function resetMs(metadata: unknown): number | null {
  const headers = (metadata as { headers?: Readonly<Record<string, unknown>> } | null | undefined)?.headers;
  const at = Number(headers?.['X-RateLimit-Reset'] ?? NaN);
  return at > 1e12 ? Math.max(0, Math.ceil(at - Date.now())) : null;
}

/** Time that a server which is loading a model gets before the next request, if it does not say how long that takes (Hugging Face does). */
const usualLoadMs = 5_000;
const loadingMs = ({ error, message = error, estimated_time: seconds }: Readonly<Record<string, unknown>>): number | null =>
  typeof message === 'string' && /\bloading model\b|\bmodel\b.{0,100}\bis (?:currently |still )?loading\b/i.test(message)
    ? typeof seconds === 'number'
      ? Math.ceil(seconds * 1_000)
      : usualLoadMs
    : null;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A wait in words, such as “Please try again in 7m12.5s” (OpenAI, Groq, Gemini) or “retry after 45 seconds” (Azure); proxies drop the header. */
function saidMs({ error, message = error }: Readonly<Record<string, unknown>>): number | null {
  const said = typeof message === 'string' ? message.slice(0, 4_000) : '';
  const [, wait] =
    /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|h|m|s|hours?|minutes?|seconds?)\b\s?)+|(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?s\b)/i.exec(
      said,
    ) ?? [];
  if (wait === undefined) return null;
  const parts = [...wait.matchAll(/(\d+(?:\.\d+)?)\s?(ms|h|m|s)/gi)];
  return Math.ceil(parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit!.toLowerCase()]!, 0));
}

/** The error in the text of a failed reply. */
export function errorIn(text: string): UpstreamError {
  let body: unknown = pageTitle(text) ?? text.slice(0, longestBody);
  try {
    body = JSON.parse(text);
  } catch {
    // Not JSON: the text itself is the error.
  }
  return readError(body);
}

/** What a web page of a proxy says, such as “502 Bad Gateway”; null for any other text. */
function pageTitle(text: string): string | null {
  if (!/^\s*<(?:!doctype|html)\b/i.test(text)) return null;
  const [, title = ''] = /<(?:title|h1)>\s*([^<]{1,200})/i.exec(text.slice(0, longestBody)) ?? [];
  return `a web page${title === '' ? '' : `, “${title.trim()}”`}`;
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
