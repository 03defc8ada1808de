import type { Event } from '@conclave/contracts';
import type { Calls, JournalledToolCall } from '@conclave/calls';
import type * as z from 'zod';

export type JournalledLook = Omit<JournalledToolCall, 'afterRun' | 'onBegun' | 'task' | 'isError'>;

/** `value` is null when nothing could be read. */
export type Journalled<T> =
  | { readonly kind: 'seen'; readonly value: T | null; readonly attempt: number; readonly records: readonly Event[] }
  | { readonly kind: 'cancelled'; readonly records: readonly Event[] }
  | { readonly kind: 'busy'; readonly retryInMs: number };

/** Reads something that changes once for all repeats of a step; the journal and the audit keep the result. */
export async function journalledJson<T>(
  maker: Pick<Calls, 'tool'>,
  look: JournalledLook,
  shape: z.ZodType<T>,
  see: () => Promise<T>,
): Promise<Journalled<T>> {
  const end = await maker.tool({ ...look, task: null }, async () => JSON.stringify(await see()));
  if (end.kind === 'busy') return end;
  const records = end.record ? [end.record] : [];
  if (end.kind === 'cancelled') return { kind: 'cancelled', records };
  if (end.kind === 'failed') return { kind: 'seen', value: null, attempt: end.attempt, records };
  return { kind: 'seen', value: shape.parse(JSON.parse(end.reply.content)), attempt: end.attempt, records };
}
