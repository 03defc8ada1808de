import * as z from 'zod';
import type { RequestedTask } from './fact-values.js';
import type { EngineEntry } from './run-stream.js';

/** What the tasks of a run were asked, by id, as far as the facts before have said it. */
export type AskedTasks = ReadonlyMap<string, RequestedTask>;

/**
 * A kind of fact that a step of the engine can establish: one line about it, its members, a sentence for readers of the run, and its
 * entries in the run stream. Folding a run's facts in order yields its state; nothing else changes it.
 */
export interface FactSpec<K extends string, S extends z.ZodType> {
  readonly kind: K;
  readonly doc: string;
  readonly schema: S;
  /** `asked` is empty for a reader who has only this fact. */
  sentence(fact: z.infer<S>, asked: AskedTasks): string;
  /** Whether lists for people leave it out, because the facts around it say the same. */
  quiet?(fact: z.infer<S>): boolean;
  /** The visible part, as entries of the run stream; none if absent. */
  entries?(fact: z.infer<S>): readonly EngineEntry[];
}

/** Declares a kind of fact. */
export const defineFact = <K extends string, M extends z.ZodRawShape>(
  kind: K,
  doc: string,
  members: M,
  sentence: (fact: z.infer<z.ZodObject<M>>, asked: AskedTasks) => string,
  entries?: (fact: z.infer<z.ZodObject<M>>) => readonly EngineEntry[],
  quiet?: (fact: z.infer<z.ZodObject<M>>) => boolean,
) => {
  const schema = z.object({ kind: z.literal(kind), ...members });
  return { kind, doc, schema, sentence, ...(entries ? { entries } : {}), ...(quiet ? { quiet } : {}) } as unknown as FactSpec<
    K,
    typeof schema
  >;
};

/** Longest result text in the run stream, in characters. */
export const shownText = 240;
export const bounded = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);
export const local = (ref: string): string => ref.slice(ref.indexOf('/') + 1);
export const duration = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`);
export const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : what.endsWith('s') ? 'es' : 's'}`;
