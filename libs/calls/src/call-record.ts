import { hash } from 'node:crypto';
import { CallRecorded, type Event, type FailureNote, ownEvent, type Service, type Usage } from '@conclave/contracts';
import type { ModelReply, RecordedCall } from '@conclave/ports';

/** A failed try of a call that was repeated. */
export type Retry = NonNullable<CallRecorded['data']['retries']>[number];

/** What the journal stores of a call: its end and its record, so that a repeat publishes the same record. */
export interface StoredCall {
  readonly reply: ModelReply | null;
  readonly failure: FailureNote | null;
  readonly cancelled: boolean;
  readonly record: CallRecorded['data'];
}

export interface CallToRecord {
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
  /** Earlier tries that failed. */
  readonly retries: readonly Retry[];
}

/** SHA-256 of a request as in its record, in hex. */
export const requestHash = (request: unknown): string => hash('sha256', JSON.stringify(request));

/** The audit record of a call; `storePrompts` decides how much of prompt and reply it keeps. */
export function recordOf(end: CallToRecord, storePrompts: 'full' | 'hash' | 'none'): CallRecorded['data'] {
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
    ...(reply?.repeated ? { repeated: reply.repeated } : {}),
    ...(end.retries.length > 0 ? { retries: [...end.retries] } : {}),
  };
}

/**
 * The journal's entry of a call, from its record: the inverse of `recordOf`. Null for an answered call whose record lacks the reply,
 * because `store_prompts` was not full.
 */
export function storedCallOf(record: CallRecorded['data']): StoredCall | null {
  const { status, failure, usage, reportedModel, firstTokenMs, durationMs, repeated } = record;
  if (status !== 'ok') return { reply: null, failure, cancelled: status === 'cancelled', record };
  const said = record.reply as Pick<ModelReply, 'content' | 'reasoning' | 'finishReason'> | null;
  if (said === null) return null;
  const { content, reasoning, finishReason } = said;
  const reply = { content, reasoning, finishReason, usage, reportedModel, firstTokenMs, durationMs, ...(repeated ? { repeated } : {}) };
  return { reply, failure, cancelled: false, record };
}

/** A call as the journal stores it: only the record, if that is complete. */
export type KeptCall = StoredCall | Pick<StoredCall, 'record'>;

export const keptCallOf = (stored: StoredCall): KeptCall => (storedCallOf(stored.record) ? { record: stored.record } : stored);

/** The complete call from the journal's entry. Throws TypeError for an entry that `keptCallOf` never returns. */
export function wholeCall(kept: KeptCall): StoredCall {
  if ('reply' in kept) return kept;
  const stored = storedCallOf(kept.record);
  if (!stored) throw new TypeError(`The record of ${kept.record.step} contains no reply.`);
  return stored;
}

/** Log address of a call's record. */
export const recordedAt = ({ step, attempt }: Pick<CallRecorded['data'], 'step' | 'attempt'>): RecordedCall => ({
  topic: CallRecorded.topic,
  id: `${step}/${attempt}`,
});

/** The event of a record. Equal records return equal events, byte for byte, however often they are published. */
export const recordEvent = (runId: string, source: Service, data: CallRecorded['data']): Event =>
  ownEvent(CallRecorded, { id: recordedAt(data).id, runId, source, time: data.startedAt + data.durationMs }, data);
