import { Failure } from '@conclave/contracts';
import type { OpenAI } from 'openai';
import { APIError } from 'openai/core/error';
import type { ChatCompletionCreateParams } from 'openai/resources';
import type { CompletionBody } from './concessions.js';
import { readError } from './error-body.js';
import { dataOf } from './event-stream.js';
import type { ReplyReader } from './reply-reader.js';
import type { Watchdog } from './watchdog.js';

/**
 * Sends one call and feeds the reader until nothing more comes. A server that was asked for a stream and answers with JSON
 * is read as a whole reply. Throws what the client library throws, or PROVIDER_STREAM_BROKEN / PROVIDER_REPLY_INVALID.
 * `onHead` runs when the head of the reply has come.
 */
export async function attempt(
  client: OpenAI,
  provider: string,
  body: CompletionBody,
  reader: ReplyReader,
  watchdog: Watchdog,
  onHead: () => void,
): Promise<void> {
  const response = await client.chat.completions
    .create(body as unknown as ChatCompletionCreateParams, { signal: watchdog.controller.signal })
    .asResponse();
  onHead();
  const type = response.headers.get('content-type') ?? '';
  if (/html/i.test(type)) {
    watchdog.controller.abort();
    throw new Failure('PROVIDER_REPLY_INVALID', `Provider ${provider} sent a web page. Most servers want a \`base_url\` that ends in /v1.`);
  }
  if (!body.stream || /^application\/json\b/i.test(type)) reader.whole(withoutError(await response.json()));
  else await readStream(provider, response, reader, watchdog);
}

async function readStream(provider: string, response: Response, reader: ReplyReader, watchdog: Watchdog): Promise<void> {
  let whole = false;
  for await (const data of dataOf(response, () => watchdog.heard(reader.begun))) {
    if (data === '[DONE]') whole = true;
    else reader.chunk(withoutError(JSON.parse(data)));
    whole ||= reader.finished;
    if (whole) watchdog.finishing(reader.hasUsage);
    else watchdog.heard(reader.begun);
  }
  // Usage is no end: some servers send what they have counted so far with every chunk.
  if (!watchdog.cut && !whole) throw new Failure('PROVIDER_STREAM_BROKEN', `Provider ${provider} gave no finish reason.`);
}

/** Some servers answer 200 with an error inside. */
function withoutError(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { error, object } = value as { error?: unknown; object?: unknown };
  if (!error && object !== 'error') return value;
  throw new APIError(undefined, readError(value), undefined, undefined);
}
