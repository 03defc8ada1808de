/** A server's error about a failed call. `code` may be a number, when servers repeat the status. */
export interface UpstreamError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string;
}

const longestBody = 65_536;

const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : value ? JSON.stringify(value) : '';

/**
 * The error in a body of any usual shape: `{error: {message, type, code}}` (OpenAI, llama.cpp, newer vLLM), `{error: "text"}`
 * (Ollama, LM Studio), `{object: "error", message, type, code}` (older vLLM), `{detail}` (FastAPI;
 * its validation returns a list of `{msg, type, loc}`), or plain text.
 */
export function readError(body: unknown): UpstreamError {
  if (typeof body !== 'object' || body === null) return { message: text(body), type: '', code: '', param: '' };
  const outer = body as Record<string, unknown>;
  if (typeof outer['error'] === 'object' && outer['error'] !== null) return readError(outer['error']);
  const [fault] = Array.isArray(outer['detail']) ? (outer['detail'] as unknown[]) : [];
  if (typeof fault === 'object' && fault !== null && 'msg' in fault) {
    const { msg, type, loc } = fault as Record<string, unknown>;
    return { message: text(msg), type: text(type), code: '', param: Array.isArray(loc) ? text(loc.at(-1)) : '' };
  }
  return {
    message: text(outer['error'] ?? outer['message'] ?? outer['detail']),
    type: text(outer['type']),
    code: text(outer['code']),
    param: text(outer['param']),
  };
}

/** The body of a failed reply as `{error}`, the only shape whose message the client library keeps. */
export function errorBody(raw: string): { readonly error: UpstreamError } {
  let body: unknown = raw.slice(0, longestBody);
  try {
    body = JSON.parse(raw);
  } catch {
    // Not JSON: the text itself is the error.
  }
  return { error: readError(body) };
}

/** Rewrites every failed reply to `{error}`. Reads at most 64 KB. */
export async function withErrorBody(response: Response): Promise<Response> {
  const body = errorBody(await firstBytes(response, longestBody));
  const headers = new Headers(response.headers);
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name);
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify(body), { status: response.status, headers });
}

async function firstBytes(response: Response, limit: number): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const parts: Uint8Array[] = [];
  let size = 0;
  while (size < limit) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
  }
  await reader.cancel();
  return Buffer.concat(parts).subarray(0, limit).toString('utf8');
}
