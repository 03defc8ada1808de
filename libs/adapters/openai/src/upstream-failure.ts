import { Failure, type FailureCode } from '@conclave/contracts';
import { connectionWords } from '@conclave/ports';
import type { UpstreamError } from './error-body.js';
import { ErrorReply } from './provider-client.js';
import { saysOverflow, saysSpent } from './limits-reached.js';
import { retryAfterMs } from './retry.js';
import { saysUnknownModel, saysUnknownPath } from './unknown-model.js';

/** One failed attempt: what to throw, and whether a retry can help. */
export interface FailedAttempt {
  readonly failure: Failure;
  readonly again: boolean;
  /** Milliseconds the server asked us to wait. */
  readonly afterMs: number | null;
  /** HTTP status; with `said`, the server's message, decides what the next attempt leaves out. Never logged. */
  readonly status: number | null;
  readonly said: UpstreamError;
}

/** Texts that must not appear in the error message. */
export interface HiddenTexts {
  readonly prompts: readonly string[];
  readonly key: string | undefined;
}

const streamBroken = (detail: string, cause: unknown): FailedAttempt =>
  plain(new Failure('PROVIDER_STREAM_BROKEN', detail, { cause }), true);
const plain = (failure: Failure, again: boolean): FailedAttempt => ({
  failure,
  again,
  afterMs: null,
  status: null,
  said: { message: '', type: '', code: '', param: '' },
});

/** Converts any error of an attempt. `started`: the response headers had arrived. */
export function faultOf(error: unknown, provider: string, started: boolean, secrets: HiddenTexts, now: number): FailedAttempt {
  if (error instanceof Failure) return plain(error, error.retriable);
  if (nameOfError(error) === 'SyntaxError')
    return plain(new Failure('PROVIDER_REPLY_INVALID', `Provider ${provider} sent text that is not JSON.`), false);
  if (error instanceof ErrorReply) return answered(error, provider, secrets, now);
  const reason = connectionCode(error);
  if (started) return streamBroken(`Provider ${provider}${reason}.`, undefined);
  return plain(new Failure('PROVIDER_UNREACHABLE', `Provider ${provider}${reason}.`), true);
}

/** The server answered with an error status, or with an error inside its stream. */
function answered({ status: sent, said, headers }: ErrorReply, provider: string, secrets: HiddenTexts, now: number): FailedAttempt {
  const status = sent ?? (/^[45]\d\d$/.test(said.code) ? Number(said.code) : 500);
  const afterMs = retryAfterMs(headers, now) ?? said.afterMs ?? null;
  const { code, again, hint } = kindOf(status, said);
  const wait = afterMs !== null && afterMs >= 1_000 ? `It asks for a wait of ${Math.ceil(afterMs / 1_000)} s.` : '';
  const detail = [`Provider ${provider}, status ${status}${nameOf(said)}.`, hint, wait, quotable(said.message, secrets)]
    .filter(Boolean)
    .join(' ');
  return { failure: new Failure(code, detail, afterMs === null ? {} : { retryAfterMs: afterMs }), again, afterMs, status, said };
}

/** Most characters of a server message that is passed on. */
const longestSentence = 4_000;

/**
 * The failure for a client's own request: contains the server's message about the request (4xx) unchanged, except for statuses that
 * concern our key, address or rate limit.
 */
export function asRefused({ failure, status, said }: FailedAttempt, key: string | undefined): Failure {
  if (status === null || status < 400 || status > 499 || [401, 402, 403, 404, 407, 408, 409, 429].includes(status)) return failure;
  const message = said.message === '' || showsKey(said.message, key) ? failure.message : said.message.slice(0, longestSentence);
  // Agents shorten their conversation when they read this code; many servers send none, or the status.
  const isTooLong = failure.code === 'CONTEXT_OVERFLOW' && !/[a-z]/i.test(said.code);
  const code = isTooLong ? 'context_length_exceeded' : said.code || null;
  const upstream = { status, message, type: said.type || 'invalid_request_error', param: said.param || null, code };
  return new Failure(failure.code, failure.detail, { ...failure.options, upstream });
}

const showsKey = (words: string, key: string | undefined): boolean =>
  words.includes('*****') || /\b(?:sk|bearer)[-_ ]\S{8,}/i.test(words) || (key !== undefined && words.includes(key.slice(-8)));

/** Servers that report no context get prompts of any length. */
const whenTooLong =
  'Shorten the request, or load the model with a longer context. Runs cut their prompts to the `context` of a model that `models` in conclave.yaml names.';

interface Kind {
  readonly code: FailureCode;
  readonly again: boolean;
  readonly hint?: string;
}
function kindOf(status: number, said: UpstreamError): Kind {
  if (saysOverflow(status, said)) return { code: 'CONTEXT_OVERFLOW', again: false, hint: whenTooLong };
  if (saysUnknownModel(status, said)) return { code: 'PROVIDER_MODEL_UNKNOWN', again: false };
  if (status === 401 || status === 403) return { code: 'PROVIDER_UNAUTHENTICATED', again: false };
  if (status === 404 && saysUnknownPath(said))
    return { code: 'PROVIDER_REFUSED', again: false, hint: 'There is no such endpoint. Most servers need a `base_url` that ends in /v1.' };
  // An exhausted account also answers 429, and waiting does not help.
  if (status === 402 || (status === 429 && saysSpent(said)))
    return { code: 'PROVIDER_REFUSED', again: false, hint: 'The quota of the account is used up.' };
  if (status === 429) return { code: 'PROVIDER_RATE_LIMITED', again: true };
  if (status === 408 || status === 409 || status >= 500) return { code: 'PROVIDER_FAILED', again: status !== 501 };
  if (status >= 300 && status < 400)
    return { code: 'PROVIDER_REFUSED', again: false, hint: 'It redirects to another address. Write the final address into `base_url`.' };
  return { code: 'PROVIDER_REFUSED', again: false };
}

const nameOf = (said: UpstreamError): string => {
  const name = [said.code, said.type].find((word) => /^[A-Za-z][\w.-]{0,63}$/.test(word));
  return name ? ` (${name})` : '';
};

/** Length of a common run of characters that counts as a quotation. */
const quotation = 16;

/** A text without anything that looks like a key, or is the key of this provider or an end of it. */
function withoutKeys(text: string, key: string | undefined): string {
  const ours = key === undefined || key.length < 4 ? null : key.slice(-4);
  return text
    .replace(/\bsk[-_]\S{6,}/gi, '…')
    .replace(/\b(key|bearer|token)([-_ :="']{1,4})(\S{6,})/gi, (whole, word: string, between: string, value: string) =>
      value.length > 15 || /\d/.test(value) ? `${word}${between}…` : whole,
    )
    .replace(/\S+/g, (word) => ((key && word.includes(key)) || (ours && word.includes(ours)) || word.includes('***') ? '…' : word));
}

/** The server's message without keys, at most 300 characters; empty if it quotes a prompt. */
export function quotable(message: string, secrets: HiddenTexts): string {
  const words = withoutKeys(message.replace(/\s+/g, ' ').trim(), secrets.key).slice(0, 300);
  if (words === '') return '';
  const prompts = secrets.prompts.map((prompt) => prompt.replace(/\s+/g, ' ').trim()).filter(Boolean);
  const quotes = (part: string): boolean => prompts.some((prompt) => prompt.includes(part));
  if (prompts.some((prompt) => prompt.length < quotation && words.includes(prompt))) return '';
  for (let at = 0; at + quotation <= words.length; at += 1) if (quotes(words.slice(at, at + quotation))) return '';
  return `It says: ${words}`;
}

/** Errors of fetch may come from another realm, where `instanceof Error` fails. */
const nameOfError = (error: unknown): unknown => (error as { name?: unknown } | null)?.name;

/** Text such as ` (nothing listens at its address, ECONNREFUSED)` from the causes of a connection error; empty without a code. */
export function connectionCode(error: unknown): string {
  let at = error;
  for (let depth = 0; typeof at === 'object' && at !== null && depth < 5; depth += 1) {
    const { code, cause } = at as { code?: unknown; cause?: unknown };
    if (typeof code === 'string' && /^[A-Z_]+$/.test(code)) return ` (${connectionWords(code)})`;
    at = cause;
  }
  return '';
}
