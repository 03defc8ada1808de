import { Failure } from '@conclave/contracts';
import { APIError, type OpenAI } from 'openai';
import type { ChatCompletionCreateParams } from 'openai/resources';
import { Stream } from 'openai/core/streaming';
import type { CompletionBody } from './concessions.js';
import { readError } from './error-body.js';
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
  else await readStream(client, provider, response, reader, watchdog);
}

async function readStream(client: OpenAI, provider: string, response: Response, reader: ReplyReader, watchdog: Watchdog): Promise<void> {
  for await (const chunk of Stream.fromSSEResponse<unknown>(response, watchdog.controller, client)) {
    reader.chunk(withoutError(chunk));
    if (reader.finished) watchdog.finishing(reader.hasUsage);
    else if (reader.streamed) watchdog.heard();
  }
  // A usage chunk comes after the last token only, so a server that sent one was done even without a finish reason.
  if (!watchdog.cut && !reader.finished && !reader.hasUsage)
    throw new Failure('PROVIDER_STREAM_BROKEN', `Provider ${provider} gave no finish reason.`);
}

/** Some servers answer 200 with an error inside. */
function withoutError(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { error, object } = value as { error?: unknown; object?: unknown };
  if (!error && object !== 'error') return value;
  throw new APIError(undefined, readError(value), undefined, undefined);
}
