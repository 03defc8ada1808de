import { isFraming, isGrammar } from './lexicon.js';
import type { ComparedText } from './reading.js';
import { pair } from './small-words.js';
import { matches } from './stems.js';

/** "How do I <verb>": the verb is the action, even if it is only framing elsewhere. */
const manner =
  /^(?:and |so )?how (?:(?:do|can|should|could|would|may) (?:i|you|we|one|people)|to) (?:best |properly |correctly )?(\p{L}+)/u;
/** "What does it <verb>?" */
const closing = /(?<!\p{L})(?:do|does|did) .{1,200}? (\p{L}+)\s?[?.!]*$/u;
/** "What is it <preposition>?" */
const stranded = /(?<!\p{L})(for|with|to|about|from|in|on|of|at|by)\s?[?.!]*$/u;

/** Whether a German question asks for the name of a thing or for the meaning of a name; empty for any other question. */
const namingOrMeaning = ({ prose }: ComparedText): string =>
  /^wie (?:heiß|laute|nenn)/u.test(prose) ? 'name' : /^was (?:heiß|bedeute)/u.test(prose) ? 'meaning' : '';

/** Differences between framing words that change the question: "How do I get it?" and "How do I describe it?" differ only in one. */
export function frameWordDifferences(first: ComparedText, second: ComparedText): readonly string[] {
  const differences: string[] = [];
  const language = first.language ?? second.language;
  const verbs = [first, second].map(({ prose }) => manner.exec(prose)?.[1]);
  const isOther = (a: string | undefined, b: string | undefined): boolean => a !== undefined && b !== undefined && !matches(a, b, language);
  if (isOther(verbs[0], verbs[1])) differences.push(pair('word', [verbs[0]!], [verbs[1]!]));
  const ends = [first, second].map(({ prose }) => closing.exec(prose)?.[1]);
  const isSmall = (word: string | undefined): boolean => word !== undefined && (isFraming(word, language) || isGrammar(word, language));
  if (ends.every(isSmall) && isOther(ends[0], ends[1])) differences.push(pair('word', [ends[0]!], [ends[1]!]));
  for (const difference of [strandedDifference(first, second), strandedDifference(second, first)])
    if (difference) differences.push(difference);
  const [asked, other] = [namingOrMeaning(first), namingOrMeaning(second)];
  if (asked !== other && asked !== '' && other !== '') differences.push(pair('question', [asked], [other]));
  return differences;
}

/**
 * "What do I need a visa for?" and "What do I need for a visa?": the preposition belongs to another word. "What is it for?" and "What is
 * it?": only one text has it.
 */
function strandedDifference(one: ComparedText, other: ComparedText): 'order' | 'scope' | null {
  const preposition = stranded.exec(one.prose)?.[1];
  if (preposition === undefined) return null;
  if (!other.tokens.some(({ value }) => value === preposition)) return preposition === 'to' ? null : 'scope';
  return stranded.test(other.prose) ? null : 'order';
}
