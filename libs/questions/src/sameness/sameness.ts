import { frameWordDifferences } from './frame-words.js';
import { asksForDoing, namesActivity, withoutFrame, type Framed } from './frame.js';
import { isGrammar, oppositeFamiliesOf } from './lexicon.js';
import { normaliseQuestion } from './normalise.js';
import { ordersDiffer, type Match } from './order.js';
import { phrasingDifferences } from './phrasing.js';
import { quantityDifferences } from './quantities.js';
import { questionTypeOf, typesConflict, type QuestionType } from './question-type.js';
import { readQuestion, type ComparedText, type ComparedToken } from './reading.js';
import { pair, smallWordDifferences } from './small-words.js';
import { isUnread } from '../unread.js';
import { isCompoundOf, matches, separated } from './stems.js';

export interface Sameness {
  readonly same: boolean;
  /**
   * Differences, as `kind` or `kind: first / second`; empty if there are none. Kinds: language, length, quote, number, date, unit,
   * operator, negation, opposite, question, tense, word, scope, order, person. The values are words of the texts: do not log them.
   */
  readonly differences: readonly string[];
}

/**
 * Maximum characters of a text, and maximum words. In longer texts, neither an embedding nor this comparison is reliable about single
 * words.
 */
const longestText = 2_000;
const mostWords = 200;

/**
 * Whether two questions with close embeddings ask the same. Examines what embeddings blur: numbers, units, dates, names,
 * negation, opposites, the kind of question, who does what to whom, the language of the answer. Errs on the side of "not the same": a miss
 * costs a model call, a false hit is a wrong answer. Symmetric. English and German; in other languages questions are the same if their
 * words and the order of their words are.
 */
export function sameQuestion(a: string, b: string): Sameness {
  if (normaliseQuestion(a) === normaliseQuestion(b)) return { same: true, differences: [] };
  if (a.length > longestText || b.length > longestText) return { same: false, differences: ['length'] };
  const first = readQuestion(a);
  const second = readQuestion(b);
  if (first.tokens.length > mostWords || second.tokens.length > mostWords) return { same: false, differences: ['length'] };
  if (isUnread(a) || isUnread(b))
    return saysTheSame(first, second) ? { same: true, differences: [] } : { same: false, differences: ['language'] };
  const differences = [
    ...new Set([...compareParts(first, second), ...compareWords(first, second), ...frameWordDifferences(first, second)]),
  ];
  return { same: differences.length === 0, differences };
}

/** Whether only case, blanks and punctuation differ. */
const saysTheSame = (first: ComparedText, second: ComparedText): boolean =>
  sameLiterals(first, second) &&
  first.tokens.length === second.tokens.length &&
  first.tokens.every(({ text }, index) => text.toLowerCase() === second.tokens[index]!.text.toLowerCase());

function compareParts(first: ComparedText, second: ComparedText): readonly string[] {
  const differences: string[] = [];
  if (first.language !== null && second.language !== null && first.language !== second.language)
    differences.push(pair('language', [first.language], [second.language]));
  if (!sameLiterals(first, second)) differences.push('quote');

  differences.push(...quantityDifferences(first, second));
  const [leftOperators, rightOperators] = [operatorsOf(first), operatorsOf(second)];
  if (leftOperators !== rightOperators) differences.push(pair('operator', [leftOperators], [rightOperators]));
  const [leftNegations, rightNegations] = [negationsOf(first), negationsOf(second)];
  if (leftNegations !== rightNegations) differences.push(pair('negation', [leftNegations], [rightNegations]));
  return differences;
}

/** Quotes must be equal, in any order. */
function sameLiterals(first: ComparedText, second: ComparedText): boolean {
  return [...first.literals].sort().join('\n') === [...second.literals].sort().join('\n');
}

/** Arithmetic signs, also when spelled out. */
const spokenOperators: Readonly<Record<string, string>> = {
  plus: '+',
  minus: '-',
  times: '*',
  multiplied: '*',
  mal: '*',
  divided: '/',
  geteilt: '/',
  hoch: '^',
  squared: '^',
  cubed: '^',
};
function operatorsOf({ tokens }: ComparedText): string {
  return tokens
    .map((token, index) => {
      const isBeside = tokens[index - 1]?.kind === 'number' || tokens[index + 1]?.kind === 'number';
      const isSign = token.kind === 'operator' && /[-+*/^=<>!&|~§]/u.test(token.value);
      return isSign
        ? token.value
        : isBeside && token.kind === 'word' && !(token.value === 'hoch' && tokens[index + 1]?.kind !== 'number')
          ? (spokenOperators[token.value] ?? '')
          : '';
    })
    .join('');
}

const negations = new Set(
  "not n't no never without neither nor none nobody nothing nowhere cannot lacking nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts nirgends".split(
    ' ',
  ),
);
const exceptions = new Set('except excluding besides unless außer ausgenommen ausschließlich bis'.split(' ').slice(0, -1));
const times = (word: string, count: number): string => (count === 1 ? word : `${word} ${count} times`);
/** Number of negations and of exceptions. "not only" does not count. */
function negationsOf({ tokens }: ComparedText): string {
  const counted = tokens.filter(
    ({ value }, index) =>
      negations.has(value) &&
      !['only', 'nur'].includes(tokens[index + 1]?.value ?? '') &&
      tokens[index - 1]?.value !== 'why' &&
      !isTag(tokens, index),
  );
  const excepted = tokens.filter(({ value }) => exceptions.has(value)).length;
  return [counted.length > 0 ? times('negated', counted.length) : '', excepted > 0 ? times('except', excepted) : '']
    .filter(Boolean)
    .join(', ');
}
/** "…, isn't it?" */
const isTag = (tokens: readonly ComparedToken[], index: number): boolean =>
  tokens[index]!.value === "n't" &&
  tokens.length - index === 2 &&
  ['it', 'he', 'she', 'they', 'we', 'you', 'i', 'there'].includes(tokens[index + 1]!.value);

const isSpokenOperator = ({ tokens }: ComparedText, index: number): boolean =>
  spokenOperators[tokens[index]!.value] !== undefined && (tokens[index - 1]?.kind === 'number' || tokens[index + 1]?.kind === 'number');
const isContent = (reading: ComparedText, index: number): boolean => {
  const { kind, value } = reading.tokens[index]!;
  if (kind === 'identifier') return true;
  return (
    kind === 'word' &&
    !value.startsWith('unit:') &&
    !negations.has(value) &&
    !isGrammar(value, reading.language) &&
    !isSpokenOperator(reading, index)
  );
};
const contentOf = (reading: ComparedText): number[] => reading.tokens.flatMap((_, index) => (isContent(reading, index) ? [index] : []));

function compareWords(first: ComparedText, second: ComparedText): readonly string[] {
  const language = first.language ?? second.language;
  let left = contentOf(first);
  let right = contentOf(second);
  const matched: Match[] = [];
  const take = (isMatch: (a: ComparedToken, b: ComparedToken) => boolean): void => {
    left = left.filter((index) => {
      const at = right.findIndex((other) => isMatch(first.tokens[index]!, second.tokens[other]!));
      if (at < 0) return true;
      matched.push({ first: index, second: right[at]! });
      right = right.filter((_, position) => position !== at);
      return false;
    });
  };
  take((a, b) => a.value === b.value);
  take((a, b) => a.kind === 'word' && b.kind === 'word' && matches(a.value, b.value, language));
  take((a, b) => isCompoundOf(a.value, b.value, language) || isCompoundOf(b.value, a.value, language));
  left = withoutSeparated(left, first, second, right, (rest) => (right = rest));
  right = withoutSeparated(right, second, first, left, (rest) => (left = rest));

  const [leftType, rightType] = [questionTypeOf(first), questionTypeOf(second)];
  const [leftDoes, rightDoes] = [asksForDoing(first), asksForDoing(second)];
  const framed = (of: (match: Match) => number): Framed => ({
    types: [leftType, rightType],
    isAboutDoing: leftDoes || rightDoes,
    shared: new Set(matched.map(of)),
  });
  const [inFirst, inSecond] = [(match: Match): number => match.first, (match: Match): number => match.second];
  const leftRest = withoutFrame(first, left, framed(inFirst));
  const rightRest = withoutFrame(second, right, framed(inSecond));
  const changed = matched.filter((match) => first.tokens[match.first]!.value !== second.tokens[match.second]!.value);
  const differences: string[] = [];
  const isReworded = leftRest.length > 0 || rightRest.length > 0 || changed.length > 0;

  differences.push(...oppositesBetween(first, second, new Set(matched.map(inFirst)), new Set(matched.map(inSecond))));
  const valuesAt = ({ tokens }: ComparedText, positions: readonly number[]): ReadonlySet<string> =>
    new Set(positions.map((index) => tokens[index]!.value));
  const loose = [valuesAt(first, [...left, ...changed.map(inFirst)]), valuesAt(second, [...right, ...changed.map(inSecond)])] as const;
  if (!asksForSum(first, second, leftType, rightType) && typesConflict([leftType, rightType], loose))
    differences.push(pair('question', [leftType], [rightType]));
  if (leftDoes !== rightDoes && !namesActivity(first) && !namesActivity(second)) differences.push('question');

  const values = (rest: readonly ComparedToken[]): string[] => rest.map(({ value }) => value);
  // No word matches and neither text has a number: nothing shows that they are about the same thing.
  const isAllFrame =
    matched.length === 0 &&
    left.length > 0 &&
    right.length > 0 &&
    ![...first.tokens, ...second.tokens].some(({ kind }) => kind === 'number');
  // An unmatched word may be a name, another thing or a condition: in doubt the questions differ.
  if (isAllFrame || (leftRest.length > 0 && rightRest.length > 0)) differences.push(pair('word', values(leftRest), values(rightRest)));
  for (const run of runsOf(left)) {
    const other = runsOf(right).find((candidate) => sameSlot(first, second, run, candidate, language));
    if (other)
      differences.push(
        pair(
          'word',
          run.map((at) => first.tokens[at]!.value),
          other.map((at) => second.tokens[at]!.value),
        ),
      );
  }
  if (leftRest.length > 0 !== rightRest.length > 0) differences.push(pair('scope', values(leftRest), values(rightRest)));
  differences.push(
    ...smallWordDifferences(first, second, matched, {
      isAboutManner: leftType === 'manner' || rightType === 'manner',
      mayOmitModal: [leftType, rightType].some((type) => type === 'place' || type === 'duration'),
      isReworded,
      isCovered: leftRest.length + rightRest.length === 0,
      isExact: left.length + right.length === 0,
    }),
  );
  differences.push(...phrasingDifferences(first, second, matched));
  if (ordersDiffer(first, second, matched, isReworded)) differences.push('order');
  return differences;
}

/** "What is 15 % of 80?" and "How much is 15 % of 80?" ask the same. */
const asksForSum = (first: ComparedText, second: ComparedText, ...types: readonly QuestionType[]): boolean =>
  types.every((type) => type === 'amount' || type === 'thing') &&
  [first, second].every(({ tokens }) => tokens.some(({ kind }) => kind === 'number'));

/** Matches separable verbs: "setze … zurück" and "zurücksetzen". */
function withoutSeparated(
  whole: readonly number[],
  of: ComparedText,
  other: ComparedText,
  rest: readonly number[],
  keep: (rest: number[]) => void,
): number[] {
  return whole.filter((index) => {
    const parts = separated(of.tokens[index]!.value);
    if (parts === null || !other.tokens.some(({ value }) => value === parts[0])) return true;
    const verb = rest.find((at) => matches(other.tokens[at]!.value, parts[1], 'de'));
    if (verb === undefined) return true;
    keep(rest.filter((at) => at !== verb && other.tokens[at]!.value !== parts[0]));
    return false;
  });
}

function oppositesBetween(
  first: ComparedText,
  second: ComparedText,
  inFirst: ReadonlySet<number>,
  inSecond: ReadonlySet<number>,
): readonly string[] {
  const found: string[] = [];
  const loose = ({ tokens }: ComparedText, taken: ReadonlySet<number>): readonly string[] =>
    tokens
      .filter((token, index) => !taken.has(index) && token.kind !== 'operator')
      .map(({ value, text }) => (value.startsWith('unit:') || /^\d/u.test(value) ? text.toLowerCase() : value));
  const [left, right] = [loose(first, inFirst), loose(second, inSecond)];
  for (const family of oppositeFamiliesOf(left)) {
    const members = (words: readonly string[]): Set<number> => new Set(words.flatMap((word) => family.get(word) ?? []));
    const [a, b] = [members(left), members(right)];
    const only = (of: Set<number>, not: Set<number>): boolean => [...of].some((member) => !not.has(member));
    if (only(a, b) && only(b, a))
      found.push(
        pair(
          'opposite',
          left.filter((word) => family.has(word)),
          right.filter((word) => family.has(word)),
        ),
      );
  }
  return found;
}

/** Groups positions into runs without gaps. */
const runsOf = (positions: readonly number[]): readonly number[][] =>
  [...positions]
    .sort((a, b) => a - b)
    .reduce<number[][]>((runs, position) => {
      if (runs.at(-1)?.at(-1) === position - 1) runs.at(-1)!.push(position);
      else runs.push([position]);
      return runs;
    }, []);

/** Whether both runs have the same words before and after them. */
function sameSlot(
  first: ComparedText,
  second: ComparedText,
  run: readonly number[],
  other: readonly number[],
  language: ComparedText['language'],
): boolean {
  const around = ({ tokens }: ComparedText, from: number, step: -1 | 1): string => {
    let at = from + step;
    while (tokens[at]?.kind === 'operator') at += step;
    return tokens[at]?.value ?? '';
  };
  const isSame = (left: string, right: string): boolean =>
    left === right || (left !== '' && right !== '' && matches(left, right, language));
  return (
    isSame(around(first, run[0]!, -1), around(second, other[0]!, -1)) &&
    isSame(around(first, run.at(-1)!, 1), around(second, other.at(-1)!, 1))
  );
}
