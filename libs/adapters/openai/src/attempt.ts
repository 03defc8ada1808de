import { Failure } from '@conclave/contracts';
import { createParser } from 'eventsource-parser';
import type { CompletionBody } from './concessions.js';
import type { ProviderConfig } from './configuration.js';
import { readError, type UpstreamError } from './error-body.js';
import { ErrorReply, post, type ProviderReply } from './provider-client.js';
import { isFailure } from './finish-reasons.js';
import { isJsonText } from './json-text.js';
import type { ReplyReader } from './reply-reader.js';
import { readWhole } from './small-request.js';
import type { Watchdog } from './watchdog.js';

/**
 * Sends one call and feeds the reader until the reply ends. JSON in reply to a stream request is read as a whole reply.
 * Throws what `post` throws, or PROVIDER_STREAM_BROKEN / PROVIDER_REPLY_INVALID.
 * `onHead` runs when the response headers have arrived.
 */
export async function attempt(
  { name: provider, config }: { readonly name: string; readonly config: ProviderConfig },
  body: CompletionBody,
  reader: ReplyReader,
  watchdog: Watchdog,
  onHead: () => void,
): Promise<void> {
  const reply = await post(config, 'chat/completions', body, watchdog.controller.signal);
  onHead();
  const type = reply.headers['content-type'] ?? '';
  if (/html/i.test(type)) {
    watchdog.controller.abort();
    throw new Failure('PROVIDER_REPLY_INVALID', `Provider ${provider} sent a web page. Most servers need a \`base_url\` that ends in /v1.`);
  }
  if (!body.stream || /^application\/json\b/i.test(type)) reader.whole(withoutError(JSON.parse(await readWhole(reply.body))));
  else await readStream(provider, reply, reader, watchdog);
}

async function readStream(provider: string, reply: ProviderReply, reader: ReplyReader, watchdog: Watchdog): Promise<void> {
  let whole = false;
  const beside = { text: '' };
  for await (const data of dataOf(reply, beside, () => watchdog.heard(reader.begun))) {
    if (data === '[DONE]') {
      whole = true;
      // The connection may stay open.
      reader.done();
    } else reader.chunk(withoutError(JSON.parse(data)));
    whole ||= reader.finished;
    if (whole) watchdog.finishing(reader.hasUsage);
    else watchdog.heard(reader.begun);
  }
  if (!reader.finished && !watchdog.cut) {
    const sent = withoutError(jsonBeside(beside.text));
    if (sent !== undefined && !reader.begun) return reader.whole(sent);
  }
  if (whole && !watchdog.cut) reader.done();
  // Usage does not mark the end: some servers send running counts with every chunk.
  if (!watchdog.cut && !whole) throw new Failure('PROVIDER_STREAM_BROKEN', `Provider ${provider} sent no finish reason.`);
}

/**
 * Throws ErrorReply for an error in the body: some servers send it with status 200, as the body, in a list (Gemini), or in a choice
 * (OpenRouter).
 */
function withoutError(value: unknown): unknown {
  const [first] = Array.isArray(value) ? (value as unknown[]) : [value];
  if (typeof first !== 'object' || first === null) return value;
  const { error, object, choices } = first as { error?: unknown; object?: unknown; choices?: unknown };
  if (error || object === 'error') throw new ErrorReply(null, readError(first));
  const failed = Array.isArray(choices) ? (choices as unknown[]).find(isFailedChoice) : undefined;
  if (failed) throw new ErrorReply(null, faultIn(failed));
  return value;
}

interface FailedChoice {
  readonly error?: unknown;
  readonly finish_reason?: unknown;
}
const isFailedChoice = (choice: unknown): choice is FailedChoice => {
  const { error, finish_reason: reason } = (choice ?? {}) as FailedChoice;
  return Boolean(error) || isFailure(reason);
};
const faultIn = ({ error, finish_reason: reason }: FailedChoice): UpstreamError =>
  error ? readError(error) : { message: `The reply ended with “${String(reason)}”.`, type: '', code: '', param: '' };

/** Most characters of one event; a server that sends more would never stop. */
const longestEvent = 16_000_000;

/** Most characters of a stream that are kept because they are no events. */
const longestBeside = 1_000_000;

/**
 * What a server sent in place of events: the line `error: {…}` of older llama.cpp servers, or a whole reply or error that is only called a
 * stream. Undefined if it is no JSON.
 */
function jsonBeside(text: string): unknown {
  const [, isError, json] = /^(error:)?\s*([[{][\s\S]*)$/.exec(text.trimStart()) ?? [];
  if (json === undefined) return undefined;
  try {
    const sent: unknown = JSON.parse(json);
    return isError ? { error: sent } : sent;
  } catch {
    return undefined;
  }
}

/**
 * The data of each event of a stream, in order. `onBytes` is called for every byte chunk, including keep-alive comments. `beside` gets the
 * lines that belong to no event, which the format of streams says to ignore.
 */
async function* dataOf({ body }: ProviderReply, beside: { text: string }, onBytes: () => void): AsyncGenerator<string, void, undefined> {
  const ready: string[] = [];
  const parser = createParser({
    // An event without data is a sign of life.
    onEvent: ({ data }) => void (data.trim() !== '' && ready.push(data.trim())),
    onError: ({ line = '' }) => void (beside.text.length < longestBeside && (beside.text += `${line}\n`)),
    maxBufferSize: longestEvent,
  });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    onBytes();
    parser.feed(decoder.decode(bytes, { stream: true }));
    while (ready.length > 0) yield ready.shift()!;
  }
  // Some servers end without the blank line behind the last event; of a connection that was cut, the rest is no JSON.
  parser.feed(`${decoder.decode()}\n\n`);
  for (const data of ready) if (data === '[DONE]' || isJsonText(data)) yield data;
}
