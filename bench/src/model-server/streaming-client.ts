import { monotonicMs } from './protocol.js';

/** Text that arrived in one read, with its time in milliseconds of the machine's monotonic clock. */
export interface Arrival {
  readonly at: number;
  readonly content: string;
}

export interface StreamedAnswer {
  /** When the request was sent. */
  readonly sentAt: number;
  /** Socket reads with answer text; progress and roles do not count. */
  readonly arrivals: readonly Arrival[];
}

export interface StreamRequest {
  /** Base URL with /v1. */
  readonly url: string;
  readonly model: string;
  readonly prompt: string;
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole answer; default 60,000. */
  readonly withinMs?: number;
  readonly onContent?: (arrival: Arrival) => void;
}

const answerWithinMs = 60_000;

/** The request was refused, or its stream ended in an error. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    body: string,
  ) {
    super(`${status} instead of a stream: ${body.slice(0, 500)}`);
  }
}

/**
 * Asks one chat question and records when each piece of its answer arrives. Throws Refused on any status but 200, on an error in the
 * stream, and on a stream that ends without [DONE].
 */
export async function streamChat({
  url,
  model,
  prompt,
  signal,
  onContent,
  withinMs = answerWithinMs,
}: StreamRequest): Promise<StreamedAnswer> {
  const limit = AbortSignal.timeout(withinMs);
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: prompt }] });
  const sentAt = monotonicMs();
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer bench' },
    body,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  });
  if (response.status !== 200 || !response.body) throw new Refused(response.status, await response.text());
  const arrivals: Arrival[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  let done = false;
  for await (const part of response.body) {
    const at = monotonicMs();
    const lines = (rest + decoder.decode(part as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop()!;
    let content = '';
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      if (line === 'data: [DONE]') done = true;
      else content += contentOf(line.slice('data: '.length));
    }
    if (content === '') continue;
    arrivals.push({ at, content });
    onContent?.({ at, content });
  }
  if (!done) throw new Error('The stream ended without [DONE].');
  return { sentAt, arrivals };
}

function contentOf(data: string): string {
  const value = JSON.parse(data) as { error?: unknown; choices?: { delta?: { content?: string | null } }[] };
  if (value.error) throw new Error(`The stream contains an error: ${data}`);
  return value.choices?.[0]?.delta?.content ?? '';
}
