import type { Fact, Further } from '@conclave/contracts';
import { currentFacts, type RunState } from '@conclave/loop';
import { searchTextOf } from '../prompts/follow-up.js';

/** Maximum number of findings from which a search continues, and characters of each. */
const mostFound = 2;
const longestFound = 1_000;

/**
 * The findings from which a search of a later round continues: the first ones of the latest round with findings, taken from its tasks in
 * turn. Absent in the first round, and while nothing with a source was found.
 */
export function furtherOf({ request, memory }: Pick<RunState, 'request' | 'memory'>, epoch: number): { further?: Further } {
  const before = currentFacts(memory).filter((fact) => fact.epoch < epoch && isText(fact));
  const latest = Math.max(...before.map((fact) => fact.epoch));
  const places = new Map<string, number>();
  const ranked = before
    .filter((fact) => fact.epoch === latest)
    .map((fact) => {
      const place = places.get(fact.taskId) ?? 0;
      places.set(fact.taskId, place + 1);
      return { fact, place };
    });
  const found = ranked
    .sort((a, b) => a.place - b.place)
    .slice(0, mostFound)
    .map(({ fact: { text, source } }) => ({ title: source.title, text: text.slice(0, longestFound) }));
  return found.length === 0 ? {} : { further: { question: searchTextOf(request, memory.searchQuestion), found } };
}

/** Whether a fact is text of a document or a page: results of tools and findings of experts do not lead to other documents. */
const isText = ({ source: { kind } }: Fact): boolean => kind === 'corpus' || kind === 'collection' || kind === 'web';
