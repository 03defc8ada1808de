import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@conclave/test-support';
import { ask, byAdmin, ChatStream, command, runEnd, runEvents, startRun, user, type System } from '@conclave/test-support/system';
import { wants } from './committee.js';

const model = 'whole';

/** Everything that people do to a system, again and again, until it is told to stop. */
export class Load {
  private asked = 0;
  private stopping = false;
  private readonly lanes: Promise<void>[] = [];

  constructor(private readonly system: System) {}

  /** Questions that go well, one after the other. Nothing here may make an alert fire. */
  async quietly(seconds: number, everyMs: number): Promise<void> {
    const end = Date.now() + seconds * 1_000;
    while (Date.now() < end) {
      await this.chat();
      await delay(Math.max(0, Math.min(everyMs, end - Date.now())));
    }
  }

  /** Begins the lanes of the whole load. */
  begin(): void {
    this.lane(async () => void (await this.chat()));
    this.lane(() => this.repeated());
    this.lane(() => this.steered());
    this.lane(() => this.unlike());
    this.lane(() => this.left());
    this.lane(() => this.documents());
    this.lane(() => this.direct());
  }

  /** Ends the lanes; throws what one of them met. */
  async end(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.lanes);
  }

  private lane(once: () => Promise<void>): void {
    const run = async (): Promise<void> => {
      while (!this.stopping) {
        await once();
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

  private async chat(question = this.question(), headers: Record<string, string> = {}): Promise<ChatStream> {
    const chat = await ChatStream.open(this.url, { model, messages: user(question) }, headers);
    return chat.end(60_000);
  }

  /** The same question twice: the cache answers the second; and a retry that finds its run. */
  private async repeated(): Promise<void> {
    const question = this.question();
    await this.chat(question);
    await delay(500);
    await this.chat(question);
    const key = { 'idempotency-key': `retry-${this.asked}` };
    const again = this.question(wants.slow);
    await Promise.all([this.chat(again, key), delay(300).then(() => this.chat(again, key))]);
  }

  /** A run that somebody watches, steers, pauses and cancels. */
  private async steered(): Promise<void> {
    const { body } = await startRun(this.url, { model, input: this.question(wants.slow) });
    const watched = runEvents(this.url, body.id);
    for (const one of [{ command: 'steer', text: 'Be brief.' }, { command: 'pause' }, { command: 'resume' }])
      await command(this.url, body.id, one);
    await delay(300);
    await command(this.url, body.id, { command: 'cancel' });
    await runEnd(this.url, body.id, 60_000);
    await watched;
    // Too late to have an effect.
    await command(this.url, body.id, { command: 'steer', text: 'Be briefer.' });
  }

  /** A second tier, a re-plan, and a run that fails. */
  private async unlike(): Promise<void> {
    await this.chat(this.question(wants.secondTier));
    await this.chat(this.question(wants.replan));
    await ask(this.url, { model, messages: user(this.question(wants.failure)) });
  }

  /** A client that goes away in the middle. */
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
  }

  /** Calls of models without a run: one that answers, one whose provider is out of order, one that nobody has; and a page that is not there. */
  private async direct(): Promise<void> {
    const chat = await ChatStream.open(this.url, { model: 'scripted@fake', messages: user('What is six times seven?') });
    await chat.end(30_000);
    for (const one of ['m@sick', 'm@flaky', 'm@nobody']) await ask(this.url, { model: one, messages: user('Are you there?') });
    await (await fetch(`${this.url}/v1/nothing/${this.asked}`)).text();
    await (await fetch(`${this.url}/v1/models`)).text();
    await delay(500);
  }
}
