import { busyRetryMs, type Begun, type CallOutcome, type Journal, type StoreTtl } from '@conclave/ports';
import type { Connection } from './connection.js';
import { type Keys, runOf } from './keys.js';
import { abandonStep, beginStep, finishStep, isStarted, noteRepeat, readRepeats } from './scripts/journal.js';
import { inPairs } from './scripts/script.js';

/** Everything a step lies under: `a/b/c` lies under `a/b` and `a`. */
export function above(step: string): string[] {
  const parts = step.split('/');
  return parts.slice(1).map((_, n) => parts.slice(0, n + 1).join('/'));
}

export class RedisJournal implements Journal {
  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
  ) {}

  async begin({ runId, step, nonce, owner }: Parameters<Journal['begin']>[0]): Promise<Begun> {
    const { journal, started, run } = this.keys.of(runId);
    const reply = await this.connection.run(
      beginStep,
      [journal, started, run, this.keys.leases],
      [step, nonce, owner, busyRetryMs, this.ttl.retentionMs, ...above(step)],
    );
    if (reply[0] === 'done') return { kind: 'done', outcome: JSON.parse(reply[1]) as CallOutcome, attempt: reply[2] };
    if (reply[0] === 'busy') return { kind: 'busy', retryInMs: reply[1] };
    return { kind: 'begun', attempt: reply[1], repeated: reply[2] === '1' };
  }

  finish({ runId, step, attempt }: Parameters<Journal['finish']>[0], outcome: CallOutcome): Promise<'stored' | 'refused'> {
    const { journal, run } = this.keys.of(runId);
    return this.connection.run(finishStep, [journal, run], [step, attempt, JSON.stringify(outcome), this.ttl.retentionMs]);
  }

  async abandon({ runId, step, attempt }: Parameters<Journal['abandon']>[0]): Promise<void> {
    await this.connection.run(abandonStep, [this.keys.of(runId).journal], [step, attempt]);
  }

  async noteRepeat({ runId, step, attempt, purpose }: Parameters<Journal['noteRepeat']>[0]): Promise<void> {
    const { journal, run } = this.keys.of(runId);
    await this.connection.run(noteRepeat, [journal, run, this.keys.repeats], [step, attempt, purpose, this.ttl.retentionMs]);
  }

  async repeats(): Promise<Readonly<Record<string, number>>> {
    const flat = await this.connection.run(readRepeats, [this.keys.repeats], []);
    return Object.fromEntries(inPairs(flat).map(([purpose, calls]) => [purpose, Number(calls)]));
  }

  async started(taskId: string): Promise<boolean> {
    return (await this.connection.run(isStarted, [this.keys.of(runOf(taskId)).started], [taskId])) === 1;
  }
}
