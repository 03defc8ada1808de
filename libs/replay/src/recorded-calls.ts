import * as z from 'zod';
import { callStep, type CallRecorded } from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import { requestHash, type CallEnd, type Calls, type JournalledModelCall, type JournalledToolCall } from '@conclave/calls';
import { canonicalJson } from '@conclave/loop';

/** A call as today's code makes it. `recorded` is null if the recording has no such call. */
export interface AskedCall {
  readonly step: string;
  readonly purpose: string;
  readonly name: string;
  readonly request: unknown;
  readonly recorded: CallRecorded['data'] | null;
  /** Comparison with the recorded call; `unknown` if neither request nor hash was stored. */
  readonly compared: 'same' | 'different' | 'unknown';
}

/** Today's code makes a call that was never recorded: there is no reply for it. */
export class CallNotRecorded extends Error {}
/** The call was made, but its reply is not in the audit. */
export class ReplyNotStored extends Error {}

const Reply = z.object({ content: z.string(), reasoning: z.string(), finishReason: z.string() });

/** Answers the calls of one plan or task from their recording and keeps the requests. Sends nothing. */
export class RecordedCalls implements Calls {
  readonly asked: AskedCall[] = [];

  constructor(
    private readonly calls: ReadonlyMap<string, CallRecorded>,
    private readonly cancelled: boolean,
  ) {}

  readonly cancels = { isCancelled: (): Promise<boolean> => Promise.resolve(this.cancelled) };

  async model({ owner, index, purpose, request }: JournalledModelCall): Promise<CallEnd> {
    return this.answer(callStep(owner, index), purpose, request.model, request);
  }

  async tool({ owner, index, purpose, name, request }: JournalledToolCall): Promise<CallEnd> {
    return this.answer(callStep(owner, index), purpose, name, request);
  }

  /** Whether a call of this name was recorded. */
  has(name: string): boolean {
    return [...this.calls.values()].some(({ data }) => data.model === name);
  }

  /** Recorded calls that today's code did not make. */
  get unmade(): readonly CallRecorded['data'][] {
    return [...this.calls.values()].map(({ data }) => data).filter(({ step }) => !this.asked.some((asked) => asked.step === step));
  }

  private answer(step: string, purpose: string, name: string, request: unknown): CallEnd {
    const event = this.calls.get(step);
    const recorded = event?.data ?? null;
    this.asked.push({ step, purpose, name, request, recorded, compared: recorded ? compared(recorded, name, request) : 'different' });
    if (!event || !recorded) throw new CallNotRecorded(step);
    const { attempt, usage, status } = recorded;
    if (status === 'cancelled') return { kind: 'cancelled', attempt, usage, record: event };
    if (status !== 'ok') {
      const failure = recorded.failure ?? { code: 'INTERNAL', message: 'The record of the call names no failure.', retriable: false };
      return { kind: 'failed', failure, attempt, usage, record: event };
    }
    return { kind: 'reply', reply: replyOf(recorded), attempt, replayed: true, usage, record: event };
  }
}

function compared(recorded: CallRecorded['data'], name: string, request: unknown): AskedCall['compared'] {
  if (recorded.model !== name) return 'different';
  if (recorded.request !== null) return canonicalJson(recorded.request) === canonicalJson(request) ? 'same' : 'different';
  if (recorded.requestHash === '') return 'unknown';
  return recorded.requestHash === requestHash(request) ? 'same' : 'different';
}

/** Text of a recorded reply; null if it is not in the audit. */
export const replyText = ({ reply }: CallRecorded['data']): string | null => Reply.safeParse(reply).data?.content ?? null;

function replyOf({ step, reply, usage, reportedModel, firstTokenMs, durationMs, repeated }: CallRecorded['data']): ModelReply {
  const parsed = Reply.safeParse(reply);
  if (!parsed.success) throw new ReplyNotStored(step);
  const finishReason = parsed.data.finishReason as ModelReply['finishReason'];
  return { ...parsed.data, finishReason, usage, reportedModel, firstTokenMs, durationMs, ...(repeated ? { repeated } : {}) };
}
