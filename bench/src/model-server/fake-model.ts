import { Worker } from '../processes/worker.js';
import type { CallNote } from './protocol.js';
import type { Schedule, ScriptedRole } from './schedule.js';

const noteWithinMs = 30_000;

/** The fake model server as the benchmark sees it. */
export class FakeModel {
  private readonly waiting = new Map<string, (note: CallNote) => void>();
  private readonly seen = new Map<string, CallNote>();

  private constructor(
    private readonly worker: Worker,
    /** Base URL with /v1. */
    readonly url: string,
  ) {}

  static async start(): Promise<FakeModel> {
    let take: (event: string, note: CallNote) => void = () => undefined;
    const worker = await Worker.start({
      name: 'fake model server',
      script: new URL('./model-server.js', import.meta.url),
      onEvent: (event, value) => take(event, value as CallNote),
    });
    const model = new FakeModel(worker, await worker.call<string>('url'));
    take = (event, note) => model.take(event, note);
    return model;
  }

  async schedule(schedule: Schedule): Promise<void> {
    await this.worker.call('schedule', schedule);
  }

  get pid(): number {
    return this.worker.pid;
  }

  /** Number of calls so far. */
  calls(): Promise<number> {
    return this.worker.call<number>('calls');
  }

  /** The first such note about a call of the role for the marked question, past or future. Throws after 30 s. */
  note(event: 'begun' | 'closed', role: ScriptedRole, mark: string): Promise<CallNote> {
    const key = `${event} ${role} ${mark}`;
    const known = this.seen.get(key);
    if (known) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(key);
        reject(new Error(`The fake model server did not report within ${noteWithinMs / 1000} s that a call was "${key}".`));
      }, noteWithinMs);
      this.waiting.set(key, (note) => {
        clearTimeout(timer);
        resolve(note);
      });
    });
  }

  /** Forgets all notes; call it between two samples. */
  forget(): void {
    this.seen.clear();
  }

  close(): Promise<void> {
    return this.worker.close();
  }

  private take(event: string, note: CallNote): void {
    const key = `${event} ${note.role} ${note.mark}`;
    if (!this.seen.has(key)) this.seen.set(key, note);
    this.waiting.get(key)?.(note);
    this.waiting.delete(key);
  }
}
