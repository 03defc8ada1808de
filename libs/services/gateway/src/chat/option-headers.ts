import {
  cacheHeader,
  ConclaveOptions,
  csrfHeader,
  Failure,
  headerOf,
  headerOptions,
  keepAliveHeader,
  nearest,
  taskHeader,
  wordOptions,
} from '@conclave/contracts';

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Known headers: the options, the cache, white space, the claimed actor, the front end's own task and the token of a session. */
const known: ReadonlySet<string> = new Set([
  ...headerOptions.map(headerOf),
  cacheHeader,
  keepAliveHeader,
  'x-conclave-actor',
  csrfHeader,
  taskHeader,
]);

/** Options from headers such as `x-conclave-wall-time-s: 60`; the body wins over a header. Throws REQUEST_INVALID. */
export function fromHeaders(headers: RequestHeaders): ConclaveOptions {
  const options: Record<string, unknown> = {};
  const unknown = Object.keys(headers).find((name) => name.startsWith('x-conclave-') && !known.has(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, [...known]);
    throw new Failure(
      'REQUEST_INVALID',
      `The header \`${unknown.slice(0, 60)}\` is unknown.${meant ? ` Did you mean \`${meant}\`?` : ''}`,
      { param: unknown.slice(0, 60) },
    );
  }
  for (const name of headerOptions) {
    const header = headerOf(name);
    const value = headers[header];
    if (typeof value !== 'string' || value.trim() === '') continue;
    const read = ConclaveOptions.safeParse({ [name]: isWord(name) ? value.trim() : Number(value) });
    if (!read.success)
      throw new Failure('REQUEST_INVALID', `The header \`${header}\` ${headerMistake(read.error.issues[0]!.message)}.`, { param: header });
    options[name] = read.data[name as keyof ConclaveOptions];
  }
  return options as ConclaveOptions;
}

/** Whether caches may be used: false for `cache-control: no-cache` or `no-store`, or when our own header disables them. */
export function cacheOption(headers: RequestHeaders): boolean {
  const own = switchOf(headers, cacheHeader);
  if (own !== null) return own;
  const control = headers['cache-control'];
  return !(typeof control === 'string' && /(?:^|[,\s])no-(?:cache|store)(?:[,;\s=]|$)/iu.test(control));
}

/** Whether white space is sent while a JSON answer is pending; null when no header sets it. Throws REQUEST_INVALID. */
export const keepAliveOption = (headers: RequestHeaders): boolean | null => switchOf(headers, keepAliveHeader);

function switchOf(headers: RequestHeaders, name: string): boolean | null {
  const given = headers[name];
  if (typeof given !== 'string' || given.trim() === '') return null;
  const value = given.trim().toLowerCase();
  if (value !== 'on' && value !== 'off')
    throw new Failure('REQUEST_INVALID', `The header \`${name}\` must be "on" or "off".`, { param: name });
  return value === 'on';
}

const isWord = (name: string): boolean => (wordOptions as readonly string[]).includes(name);

const headerMistake = (message: string): string => (message.startsWith('must') ? message : 'must be a number above 0');

/** The options in the headers. Throws REQUEST_INVALID for invalid ones, even when the options have no effect. */
export function checkHeaders(headers: RequestHeaders): ConclaveOptions {
  cacheOption(headers);
  keepAliveOption(headers);
  return fromHeaders(headers);
}
