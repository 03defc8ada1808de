import { setMaxListeners } from 'node:events';
import { Failure } from '@conclave/contracts';
import { connectionWords, firstCharacters, visibleText, waitAskedFor, type Search, type SearchHit } from '@conclave/ports';
import { Parser } from 'htmlparser2';
import * as z from 'zod';

export interface SearxngOptions {
  /**
   * Address of the server, with its path if it has one, such as `http://127.0.0.1:8888`; a user and password in it are sent as basic
   * authentication.
   */
  readonly url: string;
  /** Time-out of one search in milliseconds. SearXNG itself waits for its engines. */
  readonly timeoutMs?: number;
  /** Longest answer that is read, bytes. */
  readonly maxBytes?: number;
}

const Answer = z.object({ results: z.array(z.unknown()), unresponsive_engines: z.array(z.unknown()).optional() });
/** A field of the wrong type, such as a number as title, does not drop the whole hit. */
const Text = z.string().nullish().catch(null);
const Result = z.object({ url: Text, title: Text, content: Text });

/** Longest text of a hit, characters. */
const longestSnippet = 2_000;
const longestTitle = 300;
/** Longest address that is kept, characters: browsers and servers agree on about this much. */
const longestUrl = 2_000;
/** Longest query that is sent, characters; more would make an address that servers refuse. */
const longestQuery = 1_000;

/** Search over the JSON API of a SearXNG (or searx) server. Opens no connection by itself. */
export function openSearxng({ url, timeoutMs = 8_000, maxBytes = 2_000_000 }: SearxngOptions): Search {
  const { base, authorization } = withoutCredentials(url);
  const closing = new AbortController();
  // Every running query adds a listener and removes it at its end.
  setMaxListeners(Infinity, closing.signal);

  async function ask(path: string, signal: AbortSignal): Promise<Response> {
    return fetch(base + path, {
      signal,
      redirect: 'manual',
      headers: { accept: 'application/json', 'user-agent': 'conclave', ...authorization },
    });
  }

  return {
    kind: 'web',
    description: `web search of ${base}`,

    async query({ query, limit, signal }) {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      // Without a letter or digit there is nothing to search for, and some engines fail.
      if (!/[\p{L}\p{N}]/u.test(query)) return [];
      const bounded = new Bounded([signal, closing.signal], timeoutMs);
      try {
        const response = await ask(
          `/search?${new URLSearchParams({ q: firstCharacters(query, longestQuery), format: 'json' }).toString()}`,
          bounded.signal,
        );
        if (!response.ok) {
          await response.body?.cancel();
          throw refused(response);
        }
        return hitsOf(await textOf(response, maxBytes), limit);
      } catch (error) {
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        if (error instanceof Failure) throw error;
        if (bounded.timedOut) throw new Failure('SEARCH_UNAVAILABLE', `It did not answer within ${timeoutMs} ms.`);
        throw new Failure('SEARCH_UNAVAILABLE', `Check that SearXNG runs at ${base}${codeOf(error)}.`);
      } finally {
        bounded.end();
      }
    },

    async health() {
      const bounded = new Bounded([closing.signal], Math.min(2_000, timeoutMs));
      try {
        const response = await ask('/healthz', bounded.signal);
        await response.body?.cancel();
        return response.status < 500 ? null : `The search server at ${base} answers with status ${response.status}.`;
      } catch (error) {
        return `The search server at ${base} does not answer${codeOf(error)}.`;
      } finally {
        bounded.end();
      }
    },

    async close() {
      closing.abort();
    },
  };
}

/** A signal that aborts with any of several signals, or when the time is over. */
class Bounded {
  timedOut = false;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly abort = (): void => this.controller.abort();

  constructor(
    private readonly sources: readonly AbortSignal[],
    timeoutMs: number,
  ) {
    this.timer = setTimeout(() => {
      this.timedOut = true;
      this.abort();
    }, timeoutMs);
    for (const source of sources) source.addEventListener('abort', this.abort);
    if (sources.some((source) => source.aborted)) this.abort();
  }
  get signal(): AbortSignal {
    return this.controller.signal;
  }
  end(): void {
    clearTimeout(this.timer);
    for (const source of this.sources) source.removeEventListener('abort', this.abort);
  }
}

function refused({ status, headers }: Response): Failure {
  if (status === 403) return new Failure('SEARCH_UNAVAILABLE', 'It refuses JSON. Add `json` to `search.formats` in its settings.yml.');
  if (status === 429) {
    const waitMs = waitAskedFor(headers.get('retry-after'), Date.now());
    const wait = waitMs === null ? {} : { retryAfterMs: waitMs };
    return new Failure('SEARCH_UNAVAILABLE', 'It limits the rate of searches. Allow this address in its limiter.toml.', wait);
  }
  if (status >= 300 && status < 400)
    return new Failure('SEARCH_UNAVAILABLE', 'It redirects to another address: write the final one into `search.searxng`.');
  return new Failure('SEARCH_UNAVAILABLE', `It answers with status ${status}.`);
}

/** The body as text. Throws SEARCH_UNAVAILABLE if it is longer than `maxBytes`. */
async function textOf(response: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > maxBytes) throw new Failure('SEARCH_UNAVAILABLE', `Its answer is longer than ${maxBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function hitsOf(text: string, limit: number): readonly SearchHit[] {
  const answer = Answer.safeParse(jsonIn(text));
  if (!answer.success) throw new Failure('SEARCH_UNAVAILABLE', 'Its answer is not the JSON of SearXNG. Check the address.');
  const { results, unresponsive_engines: silent = [] } = answer.data;
  // Engines that failed are no evidence that nothing exists.
  if (results.length === 0 && silent.length > 0)
    throw new Failure('SEARCH_UNAVAILABLE', `None of its engines answered (${silent.length} failed).`);
  const hits = new Map<string, SearchHit>();
  for (const value of results) {
    const { data: result } = Result.safeParse(value);
    if (!result) continue;
    const url = webAddress(result.url);
    const snippet = firstCharacters(plain(result.content ?? ''), longestSnippet);
    const title = firstCharacters(plain(result.title ?? ''), longestTitle) || (url ? new URL(url).hostname : '');
    if (title === '' && snippet === '') continue;
    const key = url === null ? `${title}\n${snippet}` : addressKey(url);
    const known = hits.get(key);
    // One engine may send a page with a text, another one without.
    if (!known) hits.set(key, { title, url, snippet });
    else if (known.snippet === '' && snippet !== '') hits.set(key, { ...known, snippet });
  }
  return [...hits.values()].slice(0, Math.max(0, limit));
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address if it is http or https and contains no user; null for all others, which a person could not open. */
function webAddress(text: string | null | undefined): string | null {
  if (!text || text.length > longestUrl || !URL.canParse(text.trim())) return null;
  const url = new URL(text.trim());
  return /^https?:$/.test(url.protocol) && url.hostname !== '' && url.username === '' && url.password === '' ? url.href : null;
}

const tracking = /^(?:utm_\w+|gclid|fbclid|msclkid|dclid|yclid|mc_cid|mc_eid|igshid|ref_src)$/i;
/** The same key for every address of a page: without scheme, `www.`, fragment, trailing slash and tracking parameters. */
function addressKey(address: string): string {
  const url = new URL(address);
  for (const name of [...url.searchParams.keys()]) if (tracking.test(name)) url.searchParams.delete(name);
  return `${url.host.replace(/^www\./, '')}${url.pathname.replace(/\/+$/, '')}?${url.searchParams.toString()}`;
}

/** The address without credentials, which may be shown, and the credentials as a request header. */
function withoutCredentials(address: string): { readonly base: string; readonly authorization: Readonly<Record<string, string>> } {
  if (!URL.canParse(address)) return { base: address.replace(/\/+$/, ''), authorization: {} };
  const url = new URL(address);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const base = url.href.replace(/\/+$/, '');
  if (username === '' && password === '') return { base, authorization: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { base, authorization: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

/** Longest markup of a hit that is read, characters: the parser searches its open elements at each closing tag. */
const longestMarkup = 20_000;

/** The text without the HTML tags that engines put around the words they found. A `<` without a later `>` is ordinary text. */
function plain(markup: string): string {
  let text = '';
  const parser = new Parser({ ontext: (part) => void (text += part) });
  parser.end(firstCharacters(markup, longestMarkup).replace(/<(?![^<>]*>)/g, '&lt;'));
  return visibleText(text).text.replace(/\s+/g, ' ').trim();
}

/** The reason of a failed fetch, such as ` (nothing listens at its address, ECONNREFUSED)`; empty if it has no code. */
function codeOf(error: unknown): string {
  const code = (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return typeof code === 'string' ? ` (${connectionWords(code)})` : '';
}
