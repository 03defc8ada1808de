import { setTimeout as delay } from 'node:timers/promises';
import {
  CommandAccepted,
  type CommandRequest,
  isTerminal,
  RunAccepted,
  RunFactList,
  RunList,
  RunView,
  type Snapshot,
  type StreamEntry,
} from '@conclave/contracts';

/** An error answer of the gateway, with its message. */
export class GatewayRefusal extends Error {}

/** Client of the gateway's HTTP API for the command line. */
export class GatewayClient {
  /** `key`, if any, is sent with every request. */
  constructor(
    readonly url: string,
    private readonly key: string | undefined = undefined,
  ) {}

  private get identity(): Readonly<Record<string, string>> {
    return this.key === undefined ? {} : { 'x-api-key': this.key };
  }

  /** Whether a Conclave gateway answers at this address. */
  async answers(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/health/live`, { signal: AbortSignal.timeout(15_000) });
      await response.body?.cancel();
      return response.ok && response.headers.has('x-conclave');
    } catch {
      // Nothing listens, or it does not speak HTTP.
      return false;
    }
  }

  async start(model: string, question: string, cache: boolean): Promise<RunAccepted> {
    return RunAccepted.parse(await this.json('POST', '/v1/runs', { model, input: question, conclave: { cache } }));
  }

  async cancel(runId: string): Promise<void> {
    await this.json('POST', `/v1/runs/${runId}/commands`, { command: 'cancel', reason: 'asked for at the terminal' });
  }

  /** Sends a command; with one key it takes effect once, however often it is sent. */
  async command(runId: string, command: CommandRequest, key: string): Promise<CommandAccepted> {
    const path = `/v1/runs/${encodeURIComponent(runId)}/commands`;
    return CommandAccepted.parse(await this.json('POST', path, command, { 'idempotency-key': key }));
  }

  async list(limit?: number): Promise<RunList> {
    return RunList.parse(await this.json('GET', limit === undefined ? '/v1/runs' : `/v1/runs?limit=${limit}`));
  }

  async run(runId: string): Promise<RunView> {
    return RunView.parse(await this.json('GET', `/v1/runs/${encodeURIComponent(runId)}`));
  }

  /** Every fact of a run, with its step. */
  async facts(runId: string): Promise<RunFactList> {
    return RunFactList.parse(await this.json('GET', `/v1/runs/${encodeURIComponent(runId)}/facts`));
  }

  /** Continues a run after a step. `model` makes the calls from then on; null for today's models of its template. */
  async fork(runId: string, step: number, model: string | null): Promise<RunAccepted> {
    return RunAccepted.parse(await this.json('POST', `/v1/runs/${encodeURIComponent(runId)}/forks`, { step, model }));
  }

  /** The body of its readiness check, ready or not. */
  async readiness(): Promise<unknown> {
    return (await this.send('/health/ready', { headers: {} })).json();
  }

  /** Asks the question of a run again with this template. */
  async again(runId: string, template: string): Promise<RunAccepted> {
    return RunAccepted.parse(await this.json('POST', `/v1/runs/${encodeURIComponent(runId)}/reruns`, { template }));
  }

  /** Entries of a run up to its end. Resumes a broken connection a bounded number of times. Throws when the signal aborts. */
  async *events(runId: string, signal: AbortSignal | null = null): AsyncGenerator<StreamEntry | Snapshot> {
    let last = 0;
    let lost: unknown;
    for (let failures = 0; failures < 5; failures += 1) {
      try {
        for await (const entry of this.eventsAfter(runId, last, signal)) {
          if ('id' in entry) {
            last = entry.id;
            failures = 0;
          }
          yield entry;
          if (entry.kind !== 'snapshot' && isTerminal(entry)) return;
        }
      } catch (error) {
        if (error instanceof GatewayRefusal || signal?.aborted) throw error;
        lost = error;
      }
      await delay(250 * 2 ** failures);
    }
    throw new GatewayRefusal(`The event stream of ${runId} broke too often; \`conclave run ${runId}\` shows where it stands.`, {
      cause: lost,
    });
  }

  private async *eventsAfter(runId: string, last: number, signal: AbortSignal | null): AsyncGenerator<StreamEntry | Snapshot> {
    const response = await this.send(`/v1/runs/${runId}/events`, {
      headers: { accept: 'text/event-stream', ...(last > 0 ? { 'last-event-id': String(last) } : {}) },
      signal,
    });
    if (!response.ok || !response.body) throw await failureOf(response);
    let rest = '';
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = `${rest}${text}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = block
          .split('\n')
          .filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).trimStart())
          .join('\n');
        if (!data) continue;
        if (block.startsWith('event: failure')) throw failureFrom(JSON.parse(data));
        yield JSON.parse(data) as StreamEntry | Snapshot;
      }
    }
  }

  /**
   * The answer of a route as it arrives, for answers that are too long to keep in memory. Throws GatewayRefusal, and errors of the
   * connection.
   */
  async *text(path: string, signal: AbortSignal | null = null): AsyncGenerator<string> {
    const response = await this.send(path, { headers: {}, signal });
    if (!response.ok || !response.body) throw await failureOf(response);
    yield* response.body.pipeThrough(new TextDecoderStream());
  }

  /** The JSON answer of a route. Throws GatewayRefusal. */
  async json(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const response = await this.send(path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw await failureOf(response);
    return response.json();
  }

  /** Follows no redirect: the key, a question and its answer are only for this program and its configured address. */
  private send(path: string, init: RequestInit & { readonly headers: Readonly<Record<string, string>> }): Promise<Response> {
    return fetch(`${this.url}${path}`, { ...init, headers: { ...this.identity, ...init.headers }, redirect: 'manual' });
  }
}

async function failureOf(response: Response): Promise<GatewayRefusal> {
  if (response.status >= 300 && response.status < 400)
    return new GatewayRefusal('The gateway redirects to another address, which is not followed. Write the final one into CONCLAVE_URL.');
  const text = await response.text();
  try {
    return failureFrom(JSON.parse(text), response.status);
  } catch {
    // A proxy answered in another form; the status is enough.
    return failureFrom(null, response.status);
  }
}

function failureFrom(body: unknown, status = 500): GatewayRefusal {
  const message = (body as { error?: { message?: unknown } } | null)?.error?.message;
  return new GatewayRefusal(typeof message === 'string' ? message : `The gateway answered with status ${status}.`);
}
