import {
  accountMs,
  busyRetryMs,
  type BeginResult,
  type CallOutcome,
  type Journal,
  type JournalCall,
  type Paid,
  type StoreTtl,
} from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import { type Bucket, type Keys, runOf } from './keys.js';
import type { RedisLeases } from './leases.js';
import { unpacked } from './packed.js';
import { abandonStep, beginStep, finishStep, isStarted, noteRepeat, readRepeats } from './scripts/journal.js';
import { inPairs } from './scripts/script.js';
import { paidText } from './usage-ledger.js';

/** The owner of a step: `a` and `a/b` for `a/b/call/0`. */
export function above(step: string): string[] {
  const parts = step.split('/');
  return parts.slice(1).flatMap((_, n) => (parts[n] === 'call' ? [] : [parts.slice(0, n + 1).join('/')]));
}

export class RedisJournal implements Journal {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly leases: RedisLeases,
    private readonly ttl: StoreTtl,
  ) {}

  async begin({ runId, step, nonce, owner, flags = [], withState = false }: Parameters<Journal['begin']>[0]): Promise<BeginResult> {
    const { at, journal, started, run, cancelled } = this.keys.of(runId);
    // Leases are in another bucket, so an earlier owner is checked separately; if it is dead, the step begins in its place.
    for (let dead = ''; ;) {
      const reply = await this.connection.run(
        at,
        beginStep,
        [journal, started, run, cancelled],
        [step, nonce, owner, dead, this.ttl.retentionMs, withState ? 1 : 0, flags.length, ...flags, ...above(step)],
      );
      if (reply[0] === 'done' && reply[1] === '') return { kind: 'published' };
      if (reply[0] === 'done') return { kind: 'done', outcome: JSON.parse(reply[1]) as CallOutcome, attempt: reply[2] };
      if (reply[0] === 'begun') {
        const [, attempt, repeated, state, ...flagged] = reply;
        return {
          kind: 'begun',
          attempt,
          repeated: repeated === '1',
          ...(flags.length > 0 ? { flagged } : {}),
          ...(withState ? { state: state === '' ? null : (JSON.parse(unpacked(state)) as unknown) } : {}),
        };
      }
      const leftMs = await this.leases.leftOf(reply[1]);
      if (leftMs > 0) return { kind: 'busy', retryInMs: Math.min(leftMs, busyRetryMs) };
      dead = reply[1];
    }
  }

  finish(call: JournalCall, outcome: CallOutcome, paid?: Paid): Promise<'stored' | 'refused'> {
    const { at, journal, run, usage } = this.keys.of(call.runId);
    return this.connection.run(
      at,
      finishStep,
      [journal, run, usage],
      [call.step, call.attempt, JSON.stringify(outcome), ...this.paying(at, call, paid)],
    );
  }

  async abandon(call: JournalCall, paid?: Paid, unsent = ''): Promise<void> {
    const { at, journal, run, usage } = this.keys.of(call.runId);
    await this.connection.run(at, abandonStep, [journal, run, usage], [call.step, call.attempt, ...this.paying(at, call, paid), unsent]);
  }

  private paying({ beforeAccount }: Bucket, call: JournalCall, paid: Paid | undefined): (string | number)[] {
    return [this.ttl.retentionMs, beforeAccount, paidText(call, paid), accountMs];
  }

  async noteRepeat({ runId, step, attempt, purpose }: Parameters<Journal['noteRepeat']>[0]): Promise<void> {
    const { at, journal, run } = this.keys.of(runId);
    await this.connection.run(at, noteRepeat, [journal, run, at.repeats], [step, attempt, purpose, this.ttl.retentionMs]);
  }

  async repeats(): Promise<Readonly<Record<string, number>>> {
    const sums: Record<string, number> = {};
    for (const flat of await this.connection.everywhere(readRepeats, (at) => [at.repeats], []))
      for (const [purpose, calls] of inPairs(flat)) sums[purpose] = (sums[purpose] ?? 0) + Number(calls);
    return sums;
  }

  async started(taskId: string): Promise<boolean> {
    const { at, started } = this.keys.of(runOf(taskId));
    return (await this.connection.run(at, isStarted, [started], [taskId])) === 1;
  }
}
