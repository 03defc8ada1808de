import { Failure } from '@conclave/contracts';
import { createParser } from 'eventsource-parser';
import type { CompletionBody } from './concessions.js';
import type { ProviderConfig } from './configuration.js';
import { readError, type UpstreamError } from './error-body.js';
import { ErrorReply, post, type ProviderReply } from './provider-client.js';
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
  for await (const data of dataOf(reply, () => watchdog.heard(reader.begun))) {
    if (data === '[DONE]') whole = true;
    else reader.chunk(withoutError(JSON.parse(data)));
    whole ||= reader.finished;
    if (whole) watchdog.finishing(reader.hasUsage);
    else watchdog.heard(reader.begun);
  }
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
  if (failed) throw new ErrorReply(null, failed.error ? readError(failed.error) : noReason);
  return value;
}

const isFailedChoice = (choice: unknown): choice is { readonly error?: unknown } => {
  const { error, finish_reason: reason } = (choice ?? {}) as { error?: unknown; finish_reason?: unknown };
  return Boolean(error) || reason === 'error';
};
const noReason: UpstreamError = { message: 'The reply ended with an error.', type: '', code: '', param: '' };

/** Most characters of one event; a server that sends more would never stop. */
const longestEvent = 16_000_000;

/** The data of each event of a stream, in order. `onBytes` is called for every byte chunk, including keep-alive comments. */
async function* dataOf({ body }: ProviderReply, onBytes: () => void): AsyncGenerator<string, void, undefined> {
  const ready: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void ready.push(data), maxBufferSize: longestEvent });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    onBytes();
    parser.feed(decoder.decode(bytes, { stream: true }));
    while (ready.length > 0) yield ready.shift()!;
  }
}
