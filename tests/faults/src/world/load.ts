import { randomUUID } from 'node:crypto';
import type { StreamEntry } from '@conclave/contracts';
import { HistoryWriter, until } from '@conclave/test-support';
import { entriesAndSnapshotsOf, SseStream, startRun, type System, type TwoHops } from '@conclave/test-support/system';
import { receiverName } from './receiver.js';
import type { AskedRun, Viewing } from '../evidence/evidence.js';
import { loadQuestion } from './committee.js';

/** A template with one round, followed by a model call that learns from the answer. */
export const learningTemplate = 'conclave-learning';

export interface LoadOptions {
  /** Number of questions in all. */
  readonly runs: number;
  /** Asked and not ended at the same time. */
  readonly atOnce: number;
  /** Least number of milliseconds between two questions. */
  readonly everyMs?: number;
  /** Which of the questions need a second round; none by default. */
  readonly twoRounds?: (n: number) => boolean;
  /** Milliseconds for which a client keeps trying to get a question accepted, and to see its end. */
  readonly patienceMs?: number;
  /** The question to ask, as one that was asked before; a new one for each run by default. */
  readonly question?: string;
  /** Name in the questions. */
  readonly name?: string;
  /** Whether the runs are followed over `/events`; all are by default. */
  readonly viewed?: boolean;
  /** Milliseconds a viewer whose connection was cut stays away before it resumes; 0 by default. */
  readonly awayMs?: number;
  /** Whether the answer teaches something, with a model call after its run; false by default. */
  readonly learned?: boolean;
  /** The template to ask; chosen by the question by default. */
  readonly model?: string;
  /** Whether the receiver of the world is told the end; false by default. */
  readonly webhook?: boolean;
  /** Called with the run and the number of its question as soon as it is accepted. */
  readonly accepted?: (runId: string, n: number) => void;
  /** Seconds a run may take; the limit of its template by default. */
  readonly wallTimeS?: number;
}

interface Open {
  readonly asked: AskedRun;
  readonly settled: Promise<void>;
}

/**
 * Clients: each asks one question with an Idempotency-Key, asks again with the same key when it does not know the outcome,
 * and follows the run's events to the end over as many connections as it takes. What they saw is in the history and in `asked`.
 */
export class Load {
  readonly asked: AskedRun[] = [];
  readonly viewings: Viewing[] = [];
  /** Runs whose terminal entry a client saw, with the time. */
  readonly ended = new Map<string, number>();
  /** Result of the last ask that was not accepted, for messages. */
  lastRefusal = 'none was refused';
  private readonly history: HistoryWriter;
  private readonly open = new Set<Promise<void>>();
  private stopping = false;
  private turn = 0;

  constructor(
    private readonly system: System,
    private readonly hops: TwoHops,
    private readonly gateways: number,
  ) {
    this.history = new HistoryWriter(`${system.folder}/history.ndjson`, 'test', 'client');
  }

  /** Asks all questions of the options; resolves when each has ended or its client has lost patience. */
  async run(options: LoadOptions): Promise<readonly AskedRun[]> {
    const mine: Open[] = [];
    const busy = new Set<Promise<void>>();
    for (let n = 1; n <= options.runs && !this.stopping; n++) {
      const started = Date.now();
      const client = this.client(n, options);
      mine.push(client);
      const done: Promise<void> = client.settled.finally(() => busy.delete(done));
      busy.add(done);
      if (busy.size >= options.atOnce) await Promise.race(busy);
      const rest = (options.everyMs ?? 0) - (Date.now() - started);
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    }
    await Promise.all(busy);
    return mine.map(({ asked }) => asked);
  }

  /** Asks no more questions; resolves when the waiting clients have given up or seen the end. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.open);
  }

  private client(n: number, options: LoadOptions): Open {
    const isNew = options.question === undefined;
    const name = `${options.name ?? 'q'}-${n}-${randomUUID().slice(0, 8)}`;
    const question = options.question ?? loadQuestion(name, options.twoRounds?.(n) ? 2 : 1, this.hops);
    const asked: { -readonly [K in keyof AskedRun]: AskedRun[K] } = {
      id: isNew ? `ask-${question.slice(14, -1)}` : `ask-again-${name}`,
      question,
      runId: null,
      acceptedAt: null,
    };
    this.asked.push(asked);
    const settled = this.follow(asked, n, options);
    this.open.add(settled);
    void settled.finally(() => this.open.delete(settled));
    return { asked, settled };
  }

  private async follow(asked: { -readonly [K in keyof AskedRun]: AskedRun[K] }, n: number, options: LoadOptions): Promise<void> {
    const deadline = Date.now() + (options.patienceMs ?? 60_000);
    const model =
      options.model ?? (options.learned ? learningTemplate : asked.question.includes('two rounds') ? 'conclave' : 'conclave-fast');
    while (asked.runId === null && Date.now() < deadline) {
      const outcome = await this.ask(asked, model, options);
      if (outcome === 'refused') return;
      if (asked.runId === null) await new Promise((resolve) => setTimeout(resolve, 200));
    }
    if (asked.runId !== null) options.accepted?.(asked.runId, n);
    if (asked.runId !== null && options.viewed !== false) await this.view(asked.runId, deadline, options.awayMs ?? 0);
  }

  /** Asks once: `ok` with the run, `fail` if the gateway said that nothing was accepted, `unknown` if it cannot be known. */
  private async ask(
    asked: { -readonly [K in keyof AskedRun]: AskedRun[K] },
    model: string,
    { wallTimeS, webhook = false }: LoadOptions,
  ): Promise<'accepted' | 'again' | 'refused'> {
    const { id, question } = asked;
    this.history.write('ask', 'invoke', id, { question });
    try {
      const { status, body } = await startRun(
        this.url(),
        {
          model,
          input: question,
          ...(webhook ? { webhook: receiverName } : {}),
          ...(wallTimeS === undefined ? {} : { conclave: { wall_time_s: wallTimeS } }),
        },
        { 'idempotency-key': id },
      );
      if (status === 202 || status === 200) {
        asked.runId = body.id;
        asked.acceptedAt = Date.now();
        this.history.write('ask', 'ok', id, { runId: body.id });
        return 'accepted';
      }
      this.history.write('ask', status >= 500 && status !== 503 ? 'unknown' : 'fail', id, { status });
      this.lastRefusal = `${status} ${JSON.stringify(body)}`;
      return status === 503 || status === 429 || status >= 500 ? 'again' : 'refused';
    } catch (error) {
      this.history.write('ask', 'unknown', id, { error: String(error) });
      this.lastRefusal = String(error);
      return 'again';
    }
  }

  /** Follows the events to the terminal entry, or until the run is gone, resuming after each cut. */
  private async view(runId: string, deadline: number, awayMs: number): Promise<void> {
    const seen: StreamEntry[] = [];
    for (let connection = 1; Date.now() < deadline && !seen.some(({ kind }) => kind === 'run.completed'); connection++) {
      // A snapshot has no id with which to resume.
      const lastEventId = seen.findLast(({ id }) => id !== undefined)?.id ?? 0;
      const entries = await this.connection(runId, lastEventId, deadline);
      if (entries === 'gone') return;
      if (entries === null) {
        await new Promise((resolve) => setTimeout(resolve, 250));
        continue;
      }
      seen.push(...entries);
      this.viewings.push({ runId, connection, viewer: `viewer-${runId}`, lastEventId, entries });
      this.history.write('view', 'info', runId, { connection, lastEventId, from: entries[0]?.id ?? null, to: entries.at(-1)?.id ?? null });
      if (awayMs > 0 && entries.at(-1)?.kind !== 'run.completed') await new Promise((resolve) => setTimeout(resolve, awayMs));
    }
    if (seen.some(({ kind }) => kind === 'run.completed')) this.ended.set(runId, Date.now());
  }

  /** Entries of one connection, null if there was none; `gone` if the run was deleted. */
  private async connection(runId: string, lastEventId: number, deadline: number): Promise<readonly StreamEntry[] | 'gone' | null> {
    try {
      const stream = await SseStream.open(`${this.url()}/v1/runs/${runId}/events`, { headers: { 'last-event-id': String(lastEventId) } });
      if (!stream.response.ok) {
        await stream.response.body?.cancel();
        return stream.response.status === 410 ? 'gone' : null;
      }
      await until('the end of a stream', () => stream.ended ?? (Date.now() > deadline ? 'late' : null), {
        timeoutMs: Math.max(1, deadline - Date.now()) + 1_000,
        everyMs: 20,
      });
      if (!stream.ended) stream.leave();
      return entriesAndSnapshotsOf(stream) as readonly StreamEntry[];
    } catch {
      // No connection, or one that broke before its head: the history has no line for it, the next one resumes.
      return null;
    }
  }

  private url(): string {
    this.turn += 1;
    return this.system.url((this.turn % this.gateways) + 1);
  }
}
