import { isContentPair, withPairs } from '@conclave/contracts';

/** Characters taken from one page. */
export const pageExcerpt = 1_500;
/** Longest passage in characters: short enough for a prompt to show it whole. */
export const longestPassage = 800;

const shortestPassage = 40;
/** Most paragraphs of one page that are scored. */
const mostParagraphs = 4_000;

const stopWords: ReadonlySet<string> = new Set(
  (
    'the and for are was were what which who whom whose when where why how does did has have had with from that this these those into about ' +
    'than then they them their there can could will would should may might not but its his her our your you all any each more most other some ' +
    'der die das den dem des ein eine einer eines einem einen und oder aber nicht ist sind war waren wird werden wurde wurden hat haben hatte ' +
    'wer was wann wo wie warum welche welcher welches welchen mit von vom zum zur bei beim aus nach auf für über unter durch gegen ohne im in am ' +
    'an als auch noch nur sich sie wir ihr ich man es er zu so dass wenn'
  ).split(' '),
);

/** Words normalised for comparison: lower case, no accents, umlauts spelled out, plural and case endings removed. */
export function termsOf(text: string): string[] {
  const words =
    withPairs(text)
      .toLowerCase()
      .replace(/[äöüß]/g, (sign) => ({ ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' })[sign]!)
      .normalize('NFD')
      .replace(/\p{M}+/gu, '')
      .match(/[\p{L}\p{N}]{1,60}/gu) ?? [];
  return words.filter((word) => (word.length > 2 || /\p{N}/u.test(word) || isContentPair(word)) && !stopWords.has(word)).map(stemOf);
}
const stemOf = (word: string): string => (word.length > 5 && !/\p{N}/u.test(word) ? word.replace(/(?:ern|en|er|es|s|e|n)$/, '') : word);

interface Passage {
  readonly place: number;
  readonly text: string;
  readonly terms: ReadonlySet<string>;
}

/**
 * The passages of a text most relevant to a query, in text order, at most `characters` in total. A passage scores by the query's words it
 * contains, rare ones higher; words already covered by a chosen passage score less. Without a match, returns the text's beginning.
 */
export function bestPassages(query: string, text: string, characters: number = pageExcerpt): readonly string[] {
  const passages = passagesOf(text);
  const wanted = new Set(termsOf(query));
  const holders = new Map<string, number>();
  for (const { terms } of passages) for (const term of terms) if (wanted.has(term)) holders.set(term, (holders.get(term) ?? 0) + 1);
  // Inverse document frequency over the passages of this text (Spärck Jones 1972), smoothed.
  const weight = (term: string): number => Math.log(1 + passages.length / (holders.get(term) ?? 1));
  const taken: Passage[] = [];
  const covered = new Set<string>();
  let left = characters;
  const open = passages.filter(({ terms }) => [...wanted].some((term) => terms.has(term)));
  while (open.length > 0) {
    const scored = open.map((passage) => ({ passage, score: scoreOf(passage, wanted, covered, weight) }));
    const best = scored.reduce((one, other) => (other.score > one.score ? other : one));
    open.splice(open.indexOf(best.passage), 1);
    if (best.passage.text.length > left) continue;
    taken.push(best.passage);
    left -= best.passage.text.length;
    for (const term of best.passage.terms) covered.add(term);
    if (left < shortestPassage || taken.length >= 4) break;
  }
  if (taken.length === 0) taken.push(...passages.slice(0, 1).map((passage) => ({ ...passage, text: passage.text.slice(0, characters) })));
  return taken.sort((a, b) => a.place - b.place).map((passage) => passage.text);
}

/** A word already covered by a chosen passage counts a fifth. Among equals the earlier passage wins. */
const scoreOf = ({ terms }: Passage, wanted: ReadonlySet<string>, covered: ReadonlySet<string>, weight: (term: string) => number): number =>
  [...wanted].reduce((sum, term) => sum + (terms.has(term) ? weight(term) * (covered.has(term) ? 0.2 : 1) : 0), 0);

/** Paragraphs; a heading is joined to its paragraph, a long paragraph is split between sentences. */
function passagesOf(text: string): readonly Passage[] {
  const passages: Passage[] = [];
  const seen = new Set<string>();
  let heading = '';
  for (const block of text.split(/\n\s*\n/).slice(0, mostParagraphs)) {
    const flat = block.replace(/\s+/g, ' ').trim();
    if (flat === '') continue;
    if (/^#{1,6} /.test(flat) && flat.length <= 200) {
      heading = flat.replace(/^#+ /, '');
      continue;
    }
    for (const part of dividedAt(flat, longestPassage - heading.length - 2)) {
      const whole = heading === '' ? part : `${heading}: ${part}`;
      if (seen.has(whole)) continue;
      seen.add(whole);
      if (whole.length >= shortestPassage || passages.length === 0)
        passages.push({ place: passages.length, text: whole, terms: new Set(termsOf(whole)) });
    }
    heading = '';
  }
  return passages;
}

function dividedAt(text: string, length: number): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > length) {
    const window = rest.slice(0, length);
    const sentence = Math.max(window.lastIndexOf('. '), window.lastIndexOf('! '), window.lastIndexOf('? '));
    const space = window.lastIndexOf(' ');
    const end = sentence > length / 3 ? sentence + 1 : space > length / 3 ? space : length;
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return rest === '' ? parts : [...parts, rest];
}
