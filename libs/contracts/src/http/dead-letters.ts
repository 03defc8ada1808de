import * as z from 'zod';
import { Timestamp } from '../values.js';

/** A person's decision about a dead letter. */
export const DeadLetterSettlement = z.object({
  action: z.enum(['redriven', 'discarded']),
  actor: z.string().describe('who decided it'),
  note: z.string().nullable().describe('reason given by the person'),
  at: Timestamp,
});
export type DeadLetterSettlement = z.infer<typeof DeadLetterSettlement>;

/** A record that could not be handled, without its bytes. */
export const DeadLetterItem = z.object({
  object: z.literal('dead_letter'),
  id: z.string().describe('partition and offset on the topic `dead`, such as `3-17`; never changes'),
  topic: z.string().nullable().describe('topic it came from; null if its headers do not name it'),
  record: z.string().nullable().describe('its position there, as topic/partition/offset'),
  group: z.string().nullable().describe('consumer group that could not handle it; a re-drive reaches only this group'),
  reason: z.string().describe('undecodable, failed, killed_process, or unknown'),
  error: z.string().nullable().describe('the last error, shortened; null without one'),
  attempts: z.int().nonnegative().nullable(),
  diedAt: Timestamp,
  type: z.string().nullable().describe('event type, if known'),
  eventId: z.string().nullable(),
  runId: z.string().nullable(),
  bytes: z.int().nonnegative().describe('length of the value'),
  redriveOf: z.string().nullable().describe('earlier letter of this record, if it was re-driven and failed again'),
  settled: DeadLetterSettlement.nullable().describe('the latest decision; null while it is open'),
});
export type DeadLetterItem = z.infer<typeof DeadLetterItem>;

export const DeadLetterList = z.object({
  object: z.literal('list'),
  data: z.array(DeadLetterItem).describe('newest first'),
  total: z.int().nonnegative().describe('letters that match the filter, on all pages'),
  nextBefore: z.string().nullable().describe('value of `before` for the next page; null on the last page'),
});
export type DeadLetterList = z.infer<typeof DeadLetterList>;

export const DeadLetterView = DeadLetterItem.extend({
  headers: z.record(z.string(), z.string()).describe('every header of the letter'),
  raw: z.object({
    base64: z.string().describe('the value, byte by byte'),
    text: z.string().nullable().describe('the value as text, if it is valid UTF-8'),
  }),
  settlements: z.array(DeadLetterSettlement).describe('every decision, oldest first'),
  effects: z.array(z.string()).describe('sentences: what its failure caused, and what a re-drive can still change'),
});
export type DeadLetterView = z.infer<typeof DeadLetterView>;

const noteField = z.string({ error: 'must be a text' }).max(500, { error: 'must have at most 500 characters' });

export const RedriveRequest = z.object({
  again: z.boolean({ error: 'must be true or false' }).nullish().describe('even if the letter is already settled'),
  note: noteField.nullish(),
});
export type RedriveRequest = z.infer<typeof RedriveRequest>;

export const DiscardRequest = z.object({ note: noteField.nullish() });
export type DiscardRequest = z.infer<typeof DiscardRequest>;

export const DeadLetterSettled = z.object({
  object: z.literal('dead_letter.settled'),
  letter: DeadLetterItem,
  effects: z.array(z.string()),
});
export type DeadLetterSettled = z.infer<typeof DeadLetterSettled>;
