import * as z from 'zod';
import { isSwapped } from '../prompts/judge-prompts.js';
import type { Input } from '../prompts/rendering.js';
import { readConfidence } from './expert-reply.js';
import { jsonIn } from './json-reply.js';

/** Longest hint that is kept, in characters. */
const longestHint = 1_000;
const Words = z.union([z.string(), z.number()]).transform(String);

const Hints = z.object({ hints: z.array(z.object({ task: Words, hint: z.string() }).partial()) });
const Scores = z.object({ scores: z.array(z.object({ task: Words, a: Words, b: Words }).partial()) });
const Critique = z.object({
  verdict: z.string().transform((word) => word.trim().toLowerCase()),
  reasons: z.union([z.array(Words), Words.transform((reason) => [reason])]).default([]),
  answer: z.string().nullish(),
});

/** Id of the task that a reply names by the last part of its id, whatever stands around it. */
function named<T extends { readonly taskId: string }>(word: string | undefined, tasks: readonly T[]): T | undefined {
  const local = word?.trim().split(/[\s(]/)[0] ?? '';
  return tasks.find(({ taskId }) => taskId === local || taskId.split('/').at(-1) === local);
}

/** Task id -> hint; hints for tasks that were not asked about are dropped. Empty for a reply that cannot be read. */
export function readHints(reply: string, input: Input<'hints'>): Record<string, string> {
  const parsed = Hints.safeParse(listed(jsonIn(reply), 'hints'));
  if (!parsed.success) return {};
  return Object.fromEntries(
    parsed.data.hints.flatMap(({ task, hint }) => {
      const found = named(task, input.answers);
      return found && hint?.trim() ? [[found.taskId, hint.trim().slice(0, longestHint)]] : [];
    }),
  );
}

/** Scores of the answers before and after, put back in their order. A pair without two scores has none. */
export function readScores(reply: string, input: Input<'score'>): { taskId: string; before: number; after: number }[] {
  const parsed = Scores.safeParse(listed(jsonIn(reply), 'scores'));
  if (!parsed.success) return [];
  const seen = new Set<string>();
  return parsed.data.scores.flatMap(({ task, a, b }) => {
    const pair = named(task, input.pairs);
    if (!pair || a === undefined || b === undefined || !/\d/.test(a) || !/\d/.test(b) || seen.has(pair.taskId)) return [];
    seen.add(pair.taskId);
    const [first, second] = [readConfidence(a), readConfidence(b)];
    const swapped = isSwapped(input.pairs.indexOf(pair));
    return [{ taskId: pair.taskId, before: swapped ? second : first, after: swapped ? first : second }];
  });
}

export interface CritiqueReading {
  readonly verdict: 'confirmed' | 'corrected' | 'unparsable';
  readonly reasons: string[];
  readonly text: string | null;
}

/** A correction without a text, and anything that is not the JSON it was asked for, is unparsable: then the answer stays as it is. */
export function readCritique(reply: string): CritiqueReading {
  const unparsable: CritiqueReading = { verdict: 'unparsable', reasons: [], text: null };
  const parsed = Critique.safeParse(jsonIn(reply));
  if (!parsed.success) return unparsable;
  const { verdict, reasons, answer } = parsed.data;
  const kept = reasons.map((reason) => reason.trim().slice(0, 500)).filter(Boolean);
  if (verdict === 'confirmed') return { verdict, reasons: kept, text: null };
  const text = answer?.trim() ?? '';
  return verdict === 'corrected' && text !== '' ? { verdict, reasons: kept, text } : unparsable;
}

/** A bare list where an object with the list was asked for. */
const listed = (value: unknown, key: string): unknown => (Array.isArray(value) ? { [key]: value } : value);
