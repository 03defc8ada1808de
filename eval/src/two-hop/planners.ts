import { namesTitle } from '@conclave/ports';

/** A passage that was found, and the title of its document. */
export interface Hit {
  readonly title: string;
  readonly text: string;
}

/** Number of titles that must include both gold ones, and number of hits of the first search from which a second one continues. */
export const [kept, bases] = [4, 2];

/**
 * The query of the second hop: nothing (`single`), the question with the text of each of the two best hits (`mechanical`), the
 * first name in each that the question does not contain (`name`), or the title of the missing paragraph (`ideal`).
 */
export const planners = ['single', 'mechanical', 'name', 'ideal'] as const;
export type Planner = (typeof planners)[number];

/** The query of a second search that continues from a hit of the first. */
export const queryFrom = (hit: Hit, question: string, planner: 'mechanical' | 'name'): string =>
  planner === 'mechanical' ? `${question} ${hit.text}` : nameIn(hit, question);

/** The first name in a text that is neither in the question nor in its own title; its title if there is none. */
function nameIn({ title, text }: Hit, question: string): string {
  const names = text.match(/\p{Lu}[\p{L}\p{N}'’.-]+(?: (?:of |the |de |von |van )?\p{Lu}[\p{L}\p{N}'’.-]+)*/gu) ?? [];
  return names.find((name) => !namesTitle(`${question} ${title}`, name) && name.length > 3) ?? title;
}

/** The first hit of each title. */
export const distinct = <T extends { readonly title: string }>(found: readonly T[]): readonly T[] =>
  found.filter(({ title }, n) => found.findIndex((other) => other.title === title) === n);

/** The first four titles: those of the single search, or its two best and then the best new one of each later search in turn. */
export function titlesKept(first: readonly string[], later: readonly (readonly string[])[]): readonly string[] {
  if (later.length === 0) return first.slice(0, kept);
  const titles = first.slice(0, bases);
  const longest = Math.max(...later.map(({ length }) => length));
  for (let turn = 0; turn < longest && titles.length < kept; turn += 1)
    for (const list of later) {
      const next = list.find((title) => !titles.includes(title));
      if (next !== undefined && titles.length < kept) titles.push(next);
    }
  return titles;
}
