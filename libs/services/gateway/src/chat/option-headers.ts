import { ConclaveOptions, Failure } from '@conclave/contracts';

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export const limitNames = ['wall_time_s', 'model_calls', 'prompt_tokens', 'tokens', 'cost', 'concurrent_tasks'] as const;

/** `x-conclave-wall-time-s: 60` and its like; the body wins over a header. Throws REQUEST_INVALID. */
export function fromHeaders(headers: Headers): ConclaveOptions {
  const options: Record<string, unknown> = {};
  for (const name of ['rounds', 'progress', 'detail', ...limitNames]) {
    const header = `x-conclave-${name.replaceAll('_', '-')}`;
    const value = headers[header];
    if (typeof value !== 'string' || value.trim() === '') continue;
    const read = ConclaveOptions.safeParse({ [name]: name === 'progress' || name === 'detail' ? value.trim() : Number(value) });
    if (!read.success)
      throw new Failure('REQUEST_INVALID', `The header \`${header}\` ${headerMistake(read.error.issues[0]!.message)}.`, { param: header });
    options[name] = read.data[name as keyof ConclaveOptions];
  }
  return options as ConclaveOptions;
}

/** Whether caches may be used: `cache-control: no-cache` or `no-store`, as HTTP clients say it, or our own header. */
export function cacheWish(headers: Headers): boolean {
  const own = headers['x-conclave-cache'];
  if (typeof own === 'string' && own.trim() !== '') {
    const value = own.trim().toLowerCase();
    if (value !== 'on' && value !== 'off')
      throw new Failure('REQUEST_INVALID', 'The header `x-conclave-cache` must be "on" or "off".', { param: 'x-conclave-cache' });
    return value === 'on';
  }
  const control = headers['cache-control'];
  return !(typeof control === 'string' && /(?:^|[,\s])no-(?:cache|store)(?:[,;\s=]|$)/iu.test(control));
}

const headerMistake = (message: string): string => (message.startsWith('must') ? message : 'must be a number above 0');

/** Throws REQUEST_INVALID for options in headers that cannot be read, also where nothing is done with them. */
export function checkHeaders(headers: Headers): void {
  fromHeaders(headers);
  cacheWish(headers);
}
