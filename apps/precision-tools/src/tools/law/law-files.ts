import { quoted, Refusal } from '../refusal.js';

/** Fetches bytes below one base address. */
export type FetchFile = (path: string, signal: AbortSignal) => Promise<Uint8Array>;

const mostRedirects = 3;
/** Largest transferred file, in bytes. */
const largestFile = 16 * 1024 * 1024;

const unavailable = (why: string, cause?: unknown): Refusal =>
  new Refusal('UNAVAILABLE', `The law server ${why}. Try again later, or tell the operator.`, { cause });

async function readAll(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return new Uint8Array();
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > largestFile) throw new Refusal('LIMIT_EXCEEDED', 'The file of the law server is too large.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The same host, or the same host with TLS: a law server must not redirect into another network. */
const staysThere = (from: URL, to: URL): boolean =>
  to.hostname === from.hostname && (to.origin === from.origin || (from.protocol === 'http:' && to.protocol === 'https:' && to.port === ''));

/** Throws NOT_FOUND for 404, UNAVAILABLE if the file cannot be fetched for any other reason. */
export function lawFiles(base: URL): FetchFile {
  const root = base.href.endsWith('/') ? base.href : `${base.href}/`;
  return async (path, signal) => {
    let address = new URL(path, root);
    try {
      for (let hop = 0; hop <= mostRedirects; hop += 1) {
        const response = await fetch(address, { signal, redirect: 'manual', headers: { accept: 'application/xml, application/zip, */*' } });
        const location = response.headers.get('location');
        if (response.status >= 300 && response.status < 400 && location) {
          await response.body?.cancel();
          const next = new URL(location, address);
          if (!staysThere(address, next)) throw unavailable('redirects to another host, which is not followed');
          address = next;
          continue;
        }
        if (response.ok) return await readAll(response);
        await response.body?.cancel();
        if (response.status === 404) throw new Refusal('NOT_FOUND', `The law server has no file ${quoted(path)}.`);
        throw unavailable(`answered with status ${response.status}`);
      }
      throw unavailable('redirects too often');
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw unavailable(signal.aborted ? 'did not answer in time' : 'cannot be reached', error);
    }
  };
}

/** Reads the configured base address. Throws NOT_CONFIGURED with what to write. */
export function lawBase(text: string): URL {
  const base = URL.canParse(text) ? new URL(text) : null;
  if (!base || !['http:', 'https:'].includes(base.protocol) || base.username !== '' || base.search !== '' || base.hash !== '')
    throw new Refusal(
      'NOT_CONFIGURED',
      `The law address ${quoted(text)} is not usable: write one such as https://www.gesetze-im-internet.de.`,
    );
  return base;
}
