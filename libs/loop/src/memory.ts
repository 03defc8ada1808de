import type { Fact, Memory, TriedAction } from '@conclave/contracts';

/** A text without letters and digits (a sign, an emoji) is compared as it is. */
const identity = (fact: Fact): string => `${fact.source.url ?? fact.source.title} ${normalise(fact.text) || fact.text.trim()}`;

export const normalise = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Ledger with the new facts appended; a fact with the same source and text is not a new one. */
export function addFacts(memory: Memory, facts: readonly Fact[]): Memory {
  const known = new Set(memory.facts.map(identity));
  const fresh: Fact[] = [];
  for (const fact of facts) {
    const id = identity(fact);
    if (known.has(id) || fact.text.trim() === '') continue;
    known.add(id);
    fresh.push(fact);
  }
  return fresh.length === 0 ? memory : { ...memory, facts: [...memory.facts, ...fresh] };
}

const words = (text: string): ReadonlySet<string> => new Set(normalise(text).split(' ').filter(Boolean));

/** Token Jaccard similarity, 0 to 1. */
export function jaccard(a: string, b: string): number {
  const left = words(a);
  const right = words(b);
  if (left.size === 0 && right.size === 0) return 1;
  let shared = 0;
  for (const word of left) if (right.has(word)) shared += 1;
  return shared / (left.size + right.size - shared);
}

/** Above this two arguments say the same (loop.md, No oscillation). */
export const nearRepeat = 0.8;

export type Repeat = 'new' | 'known' | 'retry' | 'near' | 'exhausted';

/**
 * What an action is in the light of what was tried: `known` succeeded before (answer it from the ledger), `retry` failed once (allowed once more),
 * `exhausted` failed twice, `near` says the same as a tried one in other words.
 */
export function repeatOf(tried: readonly TriedAction[], capability: string, argument: string): Repeat {
  const same = tried.filter((action) => action.capability === capability && normalise(action.argument) === normalise(argument));
  if (same.some((action) => action.outcome === 'facts' || action.outcome === 'empty')) return 'known';
  if (same.length > 1) return 'exhausted';
  if (same.length === 1) return 'retry';
  const close = tried.some(
    (action) =>
      action.capability === capability &&
      action.outcome !== 'failed' &&
      action.outcome !== 'cancelled' &&
      jaccard(action.argument, argument) >= nearRepeat,
  );
  return close ? 'near' : 'new';
}

/** Last six actions with two or fewer distinct ones: going in circles. */
export function circles(tried: readonly TriedAction[]): boolean {
  const window = tried.slice(-6);
  return window.length === 6 && new Set(window.map((action) => `${action.capability} ${normalise(action.argument)}`)).size <= 2;
}
