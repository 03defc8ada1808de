import { namesOf, placeOf, tokensOf, type Name, type TextToken } from '../language/tokens.js';
import {
  auxiliaries,
  determiners,
  genericPeople,
  isAgentNoun,
  isKindNoun,
  isPlaceKind,
  isStopWord,
  isTimeKind,
  measures,
  ordering,
  prepositions,
  questionWords,
  relatives,
} from '../language/words.js';

export type AnswerKind = 'place' | 'time' | 'person' | 'number' | 'reason' | 'thing';

export interface ParsedQuestion {
  readonly text: string;
  readonly tokens: readonly TextToken[];
  readonly names: readonly Name[];
  readonly kind: AnswerKind;
  /** "river" of "which river"; null if the question names no kind. */
  readonly noun: TextToken | null;
  /** Indexes of words outside names that a sentence has to cover. */
  readonly content: readonly number[];
}

/** "the founder of X" inside a question: has to be resolved before the rest. */
export interface InnerPart {
  readonly from: number;
  readonly to: number;
  /** Indexes of the words for its relation to X. */
  readonly relation: readonly number[];
  readonly kind: AnswerKind;
  readonly noun: TextToken | null;
}

/** Characters read of a question: enough for any question, few enough to compare each word with each name. */
const readCharacters = 4_000;

/** The sentence of a request that asks, without the sentences around it and without what follows its question mark. */
export function askingSentence(text: string): string {
  const sentences = text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=[?!.])\s+(?=\p{Lu}|["“])|(?<=\?)\s+/u);
  const asking = sentences.filter((sentence) => sentence.endsWith('?'));
  return asking.at(-1) ?? sentences.find((sentence) => tokensOf(sentence).some((token) => questionWords.has(token.lower))) ?? text.trim();
}

/** Longest request that is split into its sentences, in characters: an "and" has the text before it read again. */
export const longestRequest = 2_000;

/** "and" before a question with an auxiliary, or with "who". */
const joint =
  /,?\s+and\s+(?=(?:(?:in|at|on|from|of|for|to|by|through)\s+)?(?:who\s|(?:what|which|whom|whose|when|where|how|why)\s+(?:\p{L}+\s+){0,3}(?:is|are|was|were|did|does|do|has|have|had|can|could|will|would)\s))/giu;

/** A question word that asks one more thing about what the question before it is about. "How" and "what" say too little alone. */
const loneWord = '(?:(?:at|by|for|from|of|since|to|until|with)\\s+)?(?:whom?|when|where|why)(?:\\s+exactly)?';
/** Before such words at the end of a question: "who built it, when and where?". */
const jointOfLone = new RegExp(`(?:,?\\s+and\\s+|,\\s+)(?=${loneWord}(?:(?:,?\\s+and\\s+|,\\s+)${loneWord})*\\s*\\?)`, 'giu');
const lone = new RegExp(`^${loneWord}\\s*\\?$`, 'iu');

/** Whether a question is only such a word, as in "who built it? And when?". */
export const isLone = (question: string): boolean => lone.test(question);

/** "A, and B?" as "A? B?" if both parts ask something. */
const unjoined = (text: string): string =>
  text
    .split(/(?<=[.?!;\n])/u)
    .map((sentence) =>
      !sentence.endsWith('?')
        ? sentence
        : [joint, jointOfLone].reduce(
            (rest, between) =>
              rest.replace(between, (and, ...[at]: readonly number[]) => {
                const before = tokensOf(rest.slice(0, at).split('? ').at(-1)!);
                return rest.slice(0, at).includes('? ') || (before.length > 2 && before.some(({ lower }) => questionWords.has(lower)))
                  ? '? '
                  : and;
              }),
            sentence,
          ),
    )
    .join('');

/** The sentences of a request, without list marks and words such as "also" and "then" at their beginning. For texts up to the longest request. */
export function askingSentences(text: string): readonly string[] {
  return unjoined(text)
    .split(/(?<=[?!;])\s+|\n+|(?<=\p{L}\.|\d\.)\s+(?=\p{Lu})|(?<=\?),?\s*(?:and|und)\s+(?=\p{L})/u)
    .map((sentence) =>
      sentence
        .replace(/^\s*(?:\d{1,2}[.)]|[-*•]|[a-h][.)])\s+/u, '')
        .replace(/^(?:also|and|und|then)[,:]?\s+/iu, '')
        .trim(),
    )
    .filter((sentence) => sentence !== '');
}

/** `known`: keys of names in documents, for questions written without capitals. */
export function readQuestion(written: string, known: ReadonlySet<string> = new Set()): ParsedQuestion {
  const text = written.slice(0, readCharacters);
  const tokens = tokensOf(text);
  const names = [...namesOf(text, tokens)];
  // Only for a question without names: words such as "born" become names when they begin a sentence of a document.
  const unwritten = names.length === 0 ? [...known] : [];
  for (const key of unwritten.sort((a, b) => b.length - a.length)) {
    const place = placeOf(key.split(' '), tokens);
    if (!place || names.some((name) => name.from <= place.to && place.from <= name.to)) continue;
    names.push({ ...place, text: text.slice(tokens[place.from]!.start, tokens[place.to]!.end), key });
  }
  names.sort((a, b) => a.from - b.from);
  const asked = tokens.findIndex((token) => questionWords.has(token.lower));
  const noun = askedNoun(tokens, names, asked);
  const content = tokens.flatMap((token, index) =>
    token === noun || isStopWord(token.lower) || questionWords.has(token.lower) || genericPeople.has(token.lower) || inName(names, index)
      ? []
      : [index],
  );
  return { text, tokens, names, kind: kindOf(tokens, asked, noun), noun, content };
}

const inName = (names: readonly Name[], index: number): boolean => names.some((name) => name.from <= index && index <= name.to);

function askedNoun(tokens: readonly TextToken[], names: readonly Name[], asked: number): TextToken | null {
  const word = tokens[asked]?.lower;
  if (word === 'which' || word === 'what' || word === 'whose') {
    for (let at = asked + 1; at < Math.min(tokens.length, asked + 4); at += 1) {
      const token = tokens[at]!;
      if (isStopWord(token.lower) || inName(names, at)) return null;
      const next = tokens[at + 1];
      // "which old river flows": the noun is the last word before the unknown verb; a kind noun or an auxiliary marks it.
      if (isKindNoun(token.lower) || !next || isStopWord(next.lower) || at === asked + 1) return token;
    }
    return null;
  }
  // "Name the city where ..."
  return tokens.slice(0, Math.max(0, asked)).findLast((token) => isPlaceKind(token.lower) || isTimeKind(token.lower)) ?? null;
}

function kindOf(tokens: readonly TextToken[], asked: number, noun: TextToken | null): AnswerKind {
  const word = tokens[asked]?.lower;
  if (noun) return kindOfNoun(noun.lower);
  if (word === 'where') return 'place';
  if (word === 'when') return 'time';
  if (word === 'why') return 'reason';
  if (word === 'who' || word === 'whom' || word === 'whose') return 'person';
  if (
    word === 'how' &&
    /^(many|much|old|tall|long|far|high|deep|heavy|big|large|wide|warm|hot|cold|fast|thick|expensive)$/.test(tokens[asked + 1]?.lower ?? '')
  )
    return 'number';
  return 'thing';
}
const kindOfNoun = (noun: string): AnswerKind =>
  measures.has(noun)
    ? 'number'
    : isPlaceKind(noun)
      ? 'place'
      : isTimeKind(noun)
        ? 'time'
        : genericPeople.has(noun) || (isAgentNoun(noun) && !isKindNoun(noun))
          ? 'person'
          : 'thing';

const attaching: ReadonlySet<string> = new Set(['of', 'by', 'behind', 'for']);

/** The part around a name that represents something unnamed; null if the question is about the name itself. */
export function innerPart(question: ParsedQuestion, name: Name): InnerPart | null {
  const { tokens, noun } = question;
  const asked = tokens.findIndex((token) => questionWords.has(token.lower));
  const relation: number[] = [];
  let from = name.from;
  let to = name.to;
  let clause = false;
  for (let at = name.from - 1; at >= 0; at -= 1) {
    const token = tokens[at]!;
    if (at === asked || token === noun || inName(question.names, at)) break;
    if (determiners.has(token.lower) && !relatives.has(token.lower)) {
      from = at;
      if (relation.length > 0) break;
    } else if (relatives.has(token.lower) && at > asked) {
      clause = true;
      from = at;
    } else if (auxiliaries.has(token.lower)) {
      if (!relatives.has(tokens[at - 1]?.lower ?? '') || at - 1 <= asked) break;
      from = at;
    } else if (prepositions.has(token.lower)) {
      const beforeClause = clause && relation.length === 0;
      if (relation.length > 0 || !(attaching.has(token.lower) || beforeClause || at === name.from - 1 || tokens[at + 1]?.lower === 'the'))
        break;
      from = at;
    } else if (isStopWord(token.lower)) break;
    else {
      const apposed = at === name.from - 1 && isKindNoun(token.lower);
      if (!apposed) relation.unshift(at);
      from = at;
    }
  }
  if (tokens[name.to]!.possessive) {
    for (let at = name.to + 1; at < tokens.length; at += 1) {
      if (isStopWord(tokens[at]!.lower)) break;
      relation.push(at);
      to = at;
      if (!ordering.has(tokens[at]!.lower)) break;
    }
  } else if (clause && !tokens.slice(from, name.from).some((token, index) => relation.includes(from + index) && !isKindNoun(token.lower))) {
    // "the town where X was born", "the book that X wrote": the verb follows the name.
    for (let at = name.to + 1; at < tokens.length; at += 1) {
      to = at;
      if (isStopWord(tokens[at]!.lower)) continue;
      relation.push(at);
      break;
    }
  }
  const told = relation.filter((at) => !genericPeople.has(tokens[at]!.lower));
  if (told.length === 0) return null;
  // A leading preposition belongs to the rest of the question.
  while (from < name.from && prepositions.has(tokens[from]!.lower)) from += 1;
  const head =
    relation
      .map((at) => tokens[at]!)
      .find((token) => isKindNoun(token.lower) || isAgentNoun(token.lower) || genericPeople.has(token.lower)) ?? null;
  const kind = head ? kindOfNoun(head.lower) : 'thing';
  return { from, to, relation: told, kind, noun: head && kind !== 'person' ? head : null };
}

/** Whether the inner part is the whole question. */
export const isWhole = (question: ParsedQuestion, part: InnerPart): boolean =>
  question.content.every((at) => at >= part.from && at <= part.to);

/** The question with the inner part replaced by its resolved name. */
export function withName(question: ParsedQuestion, part: InnerPart, name: string): string {
  const start = question.tokens[part.from]!.start;
  const { end } = question.tokens[part.to]!;
  return `${question.text.slice(0, start)}${name}${question.text.slice(end)}`.replace(/["“”]/g, '').replace(/\s+/g, ' ').trim();
}

/** The inner part as a question. */
export function asQuestion(question: ParsedQuestion, part: InnerPart): string {
  const words = question.text.slice(question.tokens[part.from]!.start, question.tokens[part.to]!.end);
  return `${part.kind === 'person' ? 'Who' : 'What'} is ${words}?`;
}
