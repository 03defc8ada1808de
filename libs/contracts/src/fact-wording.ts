import type * as z from 'zod';
import { bounded, shownText } from './define-fact.js';
import type { PlanCreated } from './events/plan.js';
import type { Reading, RequestedTask } from './fact-values.js';

/** From where a plan came, behind its number. */
export const madeBy = (
  by: 'planner' | 'engine',
  { fallback, cached }: Pick<z.infer<typeof PlanCreated.schema>, 'fallback' | 'cached'>,
): string => {
  if (cached) return ', from the plan cache';
  if (fallback) return ', which needs no reply of a planner because none was usable';
  return by === 'planner' ? ', from the planner' : ', from the strategy itself';
};
/** The query of a search, or the tool of a task with its arguments. */
export function doing({ query, tool, args, task }: RequestedTask['spec']): string {
  const given = args && Object.keys(args).length > 0 ? ` ${JSON.stringify(args)}` : '';
  const called = [tool, given].filter(Boolean).join('');
  const searched = query && query !== task ? `search "${query}"` : '';
  const told = called || searched;
  return told === '' ? '' : ` (${bounded(told, shownText)})`;
}
/** What follows a sentence after a colon, or its full stop. */
export const saying = (text: string): string => (text.trim() === '' ? '.' : `: ${bounded(text.replace(/\s+/g, ' ').trim(), shownText)}`);

/** What a strategy reports before the table decides. */
export function assessed({ by, sufficient, model, open, question, ends }: Reading): string {
  if (by === 'planner') return `${ends ?? `The planner says that it is ${sufficient ? '' : 'not '}done`}.`;
  if (by === 'model') return `The model says: ${model ?? 'nothing'}.`;
  if (by === 'rounds') return sufficient ? 'The strategy finds nothing missing.' : 'Nothing was assessed.';
  return sufficient ? 'Nothing is missing.' : `Still missing: ${open || question || 'it was not said what'}`;
}
