import { hash } from 'node:crypto';
import { CallRecorded, type Event, type FailureNote, makeEvent, type Service, type Usage } from '@conclave/contracts';
import type { ModelReply, RecordedCall } from '@conclave/ports';

/** What the journal keeps of a call: its end and its record, so that a repeat publishes the same. */
export interface StoredCall {
  readonly reply: ModelReply | null;
  readonly failure: FailureNote | null;
  readonly cancelled: boolean;
  readonly record: CallRecorded['data'];
}

export interface EndedCall {
  readonly step: string;
  readonly attempt: number;
  readonly purpose: string;
  readonly name: string;
  readonly request: unknown;
  readonly reply: ModelReply | null;
  readonly failure: FailureNote | null;
  readonly cancelled: boolean;
  readonly usage: Usage;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** SHA-256 of a request as its record carries it, in hex. */
export const requestHash = (request: unknown): string => hash('sha256', JSON.stringify(request));

/** The audit's record of a call; prompts and replies as far as `storePrompts` keeps them. */
export function recordOf(end: EndedCall, storePrompts: 'full' | 'hash' | 'none'): CallRecorded['data'] {
  const full = storePrompts === 'full';
  const { reply } = end;
  return {
    step: end.step,
    attempt: end.attempt,
    purpose: end.purpose,
    model: end.name,
    reportedModel: reply?.reportedModel ?? null,
    status: end.cancelled ? 'cancelled' : reply ? 'ok' : end.failure?.code === 'CALL_TIMEOUT' ? 'timeout' : 'error',
    requestHash: storePrompts === 'none' ? '' : requestHash(end.request),
    request: full ? end.request : null,
    reply: full && reply ? { content: reply.content, reasoning: reply.reasoning, finishReason: reply.finishReason } : null,
    failure: end.failure,
    usage: end.usage,
    startedAt: end.startedAt,
    durationMs: end.durationMs,
    firstTokenMs: reply?.firstTokenMs ?? null,
  };
}

/**
 * What the journal kept of a call, from its record: the inverse of `recordOf`. Null for a call that answered where the record does
 * not hold the reply, because `store_prompts` was not full.
 */
export function storedCallOf(record: CallRecorded['data']): StoredCall | null {
  const { status, failure, usage, reportedModel, firstTokenMs, durationMs } = record;
  if (status !== 'ok') return { reply: null, failure, cancelled: status === 'cancelled', record };
  const said = record.reply as Pick<ModelReply, 'content' | 'reasoning' | 'finishReason'> | null;
  if (said === null) return null;
  const { content, reasoning, finishReason } = said;
  return { reply: { content, reasoning, finishReason, usage, reportedModel, firstTokenMs, durationMs }, failure, cancelled: false, record };
}

/** A call as the journal keeps it: by its record alone, where that tells everything. */
export type KeptCall = StoredCall | Pick<StoredCall, 'record'>;

export const keptCallOf = (stored: StoredCall): KeptCall => (storedCallOf(stored.record) ? { record: stored.record } : stored);

/** What the journal kept, whole. Throws TypeError for what `keptCallOf` never gives. */
export function wholeCall(kept: KeptCall): StoredCall {
  if ('reply' in kept) return kept;
  const stored = storedCallOf(kept.record);
  if (!stored) throw new TypeError(`The record of ${kept.record.step} holds no reply.`);
  return stored;
}

/** Where the record of a call stands on the log. */
export const recordedAt = ({ step, attempt }: Pick<CallRecorded['data'], 'step' | 'attempt'>): RecordedCall => ({
  topic: CallRecorded.topic,
  id: `${step}/${attempt}`,
});

/** The same record gives the same event, byte for byte, however often it is published. */
export const recordEvent = (runId: string, source: Service, data: CallRecorded['data']): Event =>
  makeEvent(CallRecorded, { id: recordedAt(data).id, runId, source, time: data.startedAt + data.durationMs }, data);
