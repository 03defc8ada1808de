import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@conclave/test-support';
import { ask, byAdmin, ChatStream, command, runEnd, runEvents, startRun, user, type System } from '@conclave/test-support/system';
import { wants } from './committee.js';

/** Milliseconds that an answer may take on an overloaded machine: longer than any run may take. */
const patienceMs = 200_000;

/** Templates of the load. */
const [model, simple] = ['whole', 'simple'];

/** Everything that people do to a system, repeated until it is stopped. */
export class Load {
  private asked = 0;
  private stopping = false;
  private readonly lanes: Promise<void>[] = [];
  /** Rounds that each lane has finished. */
  private readonly rounds: number[] = [];

  constructor(private readonly system: System) {}

  /** Asks questions that succeed, one after the other. Nothing here may make an alert fire. */
  async quietly(seconds: number, everyMs: number): Promise<void> {
    const end = Date.now() + seconds * 1_000;
    while (Date.now() < end) {
      await this.chat();
      await delay(Math.max(0, Math.min(everyMs, end - Date.now())));
    }
  }

  /** Starts the lanes of the whole load. */
  begin(): void {
    this.lane(async () => void (await this.chat()));
    this.lane(() => this.repeated());
    this.lane(() => this.steered());
    this.lane(() => this.failing());
    this.lane(() => this.unlike());
    this.lane(() => this.left());
    this.lane(() => this.documents());
    this.lane(() => this.direct());
  }

  /** Waits until every lane has finished this many more rounds; throws the error of a failed lane. */
  async more(rounds: number, timeoutMs: number): Promise<void> {
    const wanted = this.rounds.map((done) => done + rounds);
    const all = until(`${rounds} more rounds of the load`, () => this.rounds.every((done, lane) => done >= wanted[lane]!), {
      timeoutMs,
      everyMs: 200,
    });
    await Promise.race([all, Promise.all(this.lanes)]);
  }

  /** Ends the lanes; throws the error of a failed lane. */
  async end(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.lanes);
  }

  private lane(once: () => Promise<void>): void {
    const number = this.rounds.push(0) - 1;
    const run = async (): Promise<void> => {
      while (!this.stopping) {
        await once();
        this.rounds[number]! += 1;
        await delay(200);
      }
    };
    const lane = run();
    // `end` reports it.
    lane.catch(() => undefined);
    this.lanes.push(lane);
  }

  private get url(): string {
    return this.system.url();
  }

  private question(...words: readonly string[]): string {
    return `Who lit the lamp of Gannet Rock, and in which year was that (question ${(this.asked += 1)}${words.map((word) => `, ${word}`).join('')})?`;
  }

  private async chat(question = this.question(), headers: Record<string, string> = {}, of = model): Promise<ChatStream> {
    const chat = await ChatStream.open(this.url, { model: of, messages: user(question) }, headers);
    return chat.end(patienceMs);
  }

  /** Repeats a question until the cache answers it, and sends a retry that finds its run. */
  private async repeated(): Promise<void> {
    const question = this.question(wants.simple);
    await until(
      'an answer from the cache',
      async () => (await this.chat(question, {}, simple)).sse.response.headers.get('x-conclave-cache') === 'exact',
      { timeoutMs: 120_000, everyMs: 500 },
    );
    const key = { 'idempotency-key': `retry-${this.asked}` };
    const again = this.question(wants.slow);
    const first = await ChatStream.open(this.url, { model, messages: user(again) }, key);
    await this.chat(again, key);
    await first.end(patienceMs);
  }

  /** A run that is watched, steered, paused and cancelled. */
  private async steered(): Promise<void> {
    const { body } = await startRun(this.url, { model, input: this.question(wants.slow) });
    const watched = runEvents(this.url, body.id);
    for (const one of [{ command: 'steer', text: 'Be brief.' }, { command: 'pause' }, { command: 'resume' }])
      await command(this.url, body.id, one);
    await delay(500);
    await command(this.url, body.id, { command: 'cancel' });
    await runEnd(this.url, body.id, patienceMs);
    await watched;
  }

  /** A second tier, and a re-plan. */
  private async unlike(): Promise<void> {
    await this.chat(this.question(wants.secondTier));
    await this.chat(this.question(wants.replan));
  }

  /** A run that fails. */
  private async failing(): Promise<void> {
    await ask(this.url, { model: simple, messages: user(this.question(wants.simple, wants.failure)) });
    await delay(1_000);
  }

  /** A client that disconnects during its answer. */
  private async left(): Promise<void> {
    const chat = await ChatStream.open(this.url, { model, messages: user(this.question(wants.slow)) });
    await delay(700);
    chat.sse.leave();
    await delay(1_000);
  }

  private async documents(): Promise<void> {
    const name = `papers-${(this.asked += 1)}`;
    const send = async (method: string, path: string, body?: object): Promise<Response> =>
      fetch(`${this.url}/v1${path}`, {
        method,
        headers: { ...byAdmin, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    const made = await send('POST', '/collections', { name, description: 'Harbour dues.' });
    if (!made.ok) throw new Error(`POST /collections: ${made.status} ${await made.text()}`);
    const text = `# Dues\n\nThe harbour dues of ships are seven crowns a day (${name}).\n`;
    const sent = await send('POST', `/collections/${name}/documents`, { name: 'dues.md', mime: 'text/markdown', text });
    const { id } = (await sent.json()) as { id: string };
    await until(
      'the document',
      async () => ((await (await send('GET', `/collections/${name}/documents/${id}`)).json()) as { status: string }).status === 'ready',
      { timeoutMs: 60_000, everyMs: 200 },
    );
    await send('POST', `/collections/${name}/query`, { query: 'harbour dues', limit: 2 });
    await send('DELETE', `/collections/${name}`);
    await delay(5_000);
  }

  /** Calls of models without a run: one that answers, one whose provider is broken, an unknown one; and a missing page. */
  private async direct(): Promise<void> {
    const chat = await ChatStream.open(this.url, { model: 'scripted@fake', messages: user('What is six times seven?') });
    await chat.end(30_000);
    for (const one of ['m@sick', 'm@flaky', 'm@nobody']) await ask(this.url, { model: one, messages: user('Are you there?') });
    await (await fetch(`${this.url}/v1/nothing/${this.asked}`)).text();
    await (await fetch(`${this.url}/v1/models`)).text();
    await delay(500);
  }
}
