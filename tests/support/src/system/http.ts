import type { ChatCompletion, ChatCompletionChunk, ErrorBody, RunAccepted, RunView, Snapshot, StreamEntry } from '@conclave/contracts';
import { until } from '../index.js';

/** One server-sent event as it arrived, including comments. */
export interface SseEvent {
  readonly id: number | null;
  readonly name: string | null;
  readonly data: string | null;
  readonly comment: string | null;
  /** Time of its arrival, in milliseconds of `performance.now()`. */
  readonly at: number;
}

/** A stream of server-sent events that is read in the background. */
export class SseStream {
  readonly events: SseEvent[] = [];
  /** `ended` when the server ended it, `cut` when the connection broke or we left. */
  ended: 'closed' | 'cut' | null = null;
  readonly began = performance.now();

  private constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {}

  static async open(url: string, init: RequestInit = {}): Promise<SseStream> {
    const abort = new AbortController();
    const response = await fetch(url, { ...init, signal: abort.signal });
    const stream = new SseStream(response, abort);
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) void stream.read();
    return stream;
  }

  /** Disconnects without notice, like a closed browser tab. */
  leave(): void {
    this.abort.abort();
  }
  /** Waits for the end of the stream. */
  async end(timeoutMs = 30_000): Promise<this> {
    await until('the end of the stream', () => this.ended, { timeoutMs });
    return this;
  }
  /** Waits for the first matching event. */
  async event(what: string, fits: (event: SseEvent) => boolean, timeoutMs = 20_000): Promise<SseEvent> {
    return until(
      what,
      () => {
        const found = this.events.find(fits);
        if (!found && this.ended)
          throw new Error(
            `The stream ended before it: ${this.events
              .slice(-3)
              .map((event) => event.data)
              .join(' | ')}`,
          );
        return found;
      },
      { timeoutMs },
    );
  }

  private async read(): Promise<void> {
    let text = '';
    try {
      const decoder = new TextDecoder();
      for await (const bytes of this.response.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(bytes, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop()!;
        for (const block of blocks) this.events.push(eventOf(block));
      }
      this.ended = 'closed';
    } catch {
      this.ended = 'cut';
    }
  }
}

function eventOf(block: string): SseEvent {
  const field = (name: string): string | null => {
    const lines = block.split('\n').filter((line) => line.startsWith(`${name}:`));
    return lines.length === 0 ? null : lines.map((line) => line.slice(name.length + 1).replace(/^ /, '')).join('\n');
  };
  const id = field('id');
  return {
    id: id === null ? null : Number(id),
    name: field('event'),
    data: field('data'),
    comment: block.startsWith(':') ? block : null,
    at: performance.now(),
  };
}

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

export const user = (content: string) => [{ role: 'user', content }];

/** POST /v1/chat/completions without a stream. */
export async function ask(
  base: string,
  body: object | string,
  headers?: Record<string, string>,
  signal?: AbortSignal,
): Promise<{ status: number; headers: Headers; body: ChatCompletion & Partial<ErrorBody> }> {
  const response = await fetch(`${base}/v1/chat/completions`, { ...json(body, headers), ...(signal ? { signal } : {}) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as ChatCompletion & Partial<ErrorBody> };
}

/** POST /v1/chat/completions with `stream: true`. */
export class ChatStream {
  private constructor(readonly sse: SseStream) {}

  static async open(base: string, body: object, headers?: Record<string, string>): Promise<ChatStream> {
    return new ChatStream(await SseStream.open(`${base}/v1/chat/completions`, json({ ...body, stream: true }, headers)));
  }
  get runId(): string {
    return this.sse.response.headers.get('x-run-id')!;
  }
  /** Every data line except [DONE], parsed. */
  get chunks(): readonly (ChatCompletionChunk & Partial<ErrorBody>)[] {
    return this.sse.events.flatMap(({ data }) =>
      data === null || data === '[DONE]' ? [] : [JSON.parse(data) as ChatCompletionChunk & Partial<ErrorBody>],
    );
  }
  get reasoning(): string {
    return this.deltas.map((delta) => delta?.reasoning_content ?? '').join('');
  }
  get content(): string {
    return this.deltas.map((delta) => delta?.content ?? '').join('');
  }
  /** Content deltas that contain text, in order. */
  get pieces(): readonly string[] {
    return this.deltas.flatMap((delta) => (delta?.content ? [delta.content] : []));
  }
  get error(): ErrorBody['error'] | undefined {
    return this.chunks.find((chunk) => chunk.error)?.error;
  }
  get deltas() {
    return this.chunks.map((chunk) => chunk.choices?.[0]?.delta);
  }
  /** Waits until the content includes the text. */
  async shows(text: string, timeoutMs = 20_000): Promise<void> {
    await until(`content with "${text}"`, () => this.content.includes(text) || this.overWith(text), { timeoutMs });
  }
  async says(text: string, timeoutMs = 20_000): Promise<void> {
    await until(`progress with "${text}"`, () => this.reasoning.includes(text) || this.overWith(text), { timeoutMs });
  }
  async end(timeoutMs?: number): Promise<this> {
    await this.sse.end(timeoutMs);
    return this;
  }
  private overWith(text: string): false {
    if (this.sse.ended) throw new Error(`The stream ended without "${text}": ${JSON.stringify(this.chunks.slice(-3))}`);
    return false;
  }
}

export async function startRun(
  base: string,
  body: object,
  headers?: Record<string, string>,
): Promise<{ status: number; headers: Headers; body: RunAccepted & Partial<ErrorBody> }> {
  const response = await fetch(`${base}/v1/runs`, json(body, headers));
  return { status: response.status, headers: response.headers, body: (await response.json()) as RunAccepted & Partial<ErrorBody> };
}

export async function readRun(base: string, id: string, headers: Record<string, string> = {}): Promise<RunView> {
  const response = await fetch(`${base}/v1/runs/${id}`, { headers });
  if (!response.ok) throw new Error(`GET /v1/runs/${id}: ${response.status} ${await response.text()}`);
  return (await response.json()) as RunView;
}

/** Waits for the terminal event of a run and returns its view. */
export const runEnd = (base: string, id: string, timeoutMs = 30_000): Promise<RunView> =>
  until(
    `the end of ${id}`,
    async () => {
      const run = await readRun(base, id);
      return run.terminal && run;
    },
    { timeoutMs, everyMs: 50 },
  );

/** The whole stream of a run, from its beginning to its end. */
export async function runEvents(
  base: string,
  id: string,
  after = 0,
  headers: Record<string, string> = {},
): Promise<readonly StreamEntry[]> {
  const stream = await SseStream.open(`${base}/v1/runs/${id}/events`, { headers: { 'last-event-id': String(after), ...headers } });
  return entriesOf(await stream.end());
}

/** Entries with an id; a snapshot has none. */
export const entriesOf = (stream: SseStream): readonly StreamEntry[] =>
  stream.events.flatMap((event) => (event.id === null ? [] : [JSON.parse(event.data!) as StreamEntry]));

/** The same including snapshots, which replace entries that have expired. */
export const entriesAndSnapshotsOf = (stream: SseStream): readonly (StreamEntry | Snapshot)[] =>
  stream.events.flatMap(({ id, data }) => {
    const entry = data === null ? null : (JSON.parse(data) as StreamEntry | Snapshot);
    return entry && (id !== null || entry.kind === 'snapshot') ? [entry] : [];
  });

export const command = async (base: string, id: string, body: object): Promise<Response> =>
  fetch(`${base}/v1/runs/${id}/commands`, json(body));

/** Answer text of a run according to its stream: the chunks of the last attempt of its composer. */
export function composedText(entries: readonly StreamEntry[]): string {
  const composer = entries.findLast((entry) => entry.kind === 'composing')?.taskId;
  const chunks = entries.flatMap((entry) => (entry.kind === 'chunk' && entry.taskId === composer ? [entry] : []));
  const last = Math.max(...chunks.map((chunk) => chunk.attempt));
  return chunks
    .filter((chunk) => chunk.attempt === last)
    .map((chunk) => chunk.text)
    .join('');
}
