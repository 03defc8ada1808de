import {
  accountMs,
  busyRetryMs,
  type Begun,
  type CallOutcome,
  type Journal,
  type JournalCall,
  type Paid,
  type StoreTtl,
} from '@conclave/ports';
import type { Connection } from './connection.js';
import { type Keys, runOf } from './keys.js';
import { abandonStep, beginStep, finishStep, isStarted, noteRepeat, readRepeats } from './scripts/journal.js';
import { inPairs } from './scripts/script.js';
import { paidText } from './usage-ledger.js';

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

  finish(call: JournalCall, outcome: CallOutcome, paid?: Paid): Promise<'stored' | 'refused'> {
    const { journal, run, usage } = this.keys.of(call.runId);
    return this.connection.run(
      finishStep,
      [journal, run, usage],
      [call.step, call.attempt, JSON.stringify(outcome), ...this.paying(call, paid)],
    );
  }

  async abandon(call: JournalCall, paid?: Paid): Promise<void> {
    const { journal, run, usage } = this.keys.of(call.runId);
    await this.connection.run(abandonStep, [journal, run, usage], [call.step, call.attempt, ...this.paying(call, paid)]);
  }

  private paying(call: JournalCall, paid: Paid | undefined): (string | number)[] {
    return [this.ttl.retentionMs, this.keys.beforeAccount, paidText(call, paid), accountMs];
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
