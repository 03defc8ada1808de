import { frameWordDifferences } from './frame-words.js';
import { isFraming, isGrammar, oppositeFamiliesOf } from './lexicon.js';
import { normaliseQuestion } from './normalise.js';
import { ordersDiffer, type Match } from './order.js';
import { isDress, questionTypeOf, typesConflict } from './question-type.js';
import { readQuestion, type ComparedText, type ComparedToken } from './reading.js';
import { pair, smallWordDifferences } from './small-words.js';
import { isCompoundOf, matches, separated } from './stems.js';

export interface Sameness {
  readonly same: boolean;
  /**
   * Differences, as `kind` or `kind: first / second`; empty if there are none. Kinds: language, length, quote, number, date, unit,
   * operator, negation, opposite, question, tense, word, scope, order. The values are words of the texts: do not log them.
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
 * words are.
 */
export function sameQuestion(a: string, b: string): Sameness {
  if (normaliseQuestion(a) === normaliseQuestion(b)) return { same: true, differences: [] };
  if (a.length > longestText || b.length > longestText) return { same: false, differences: ['length'] };
  const first = readQuestion(a);
  const second = readQuestion(b);
  if (first.tokens.length > mostWords || second.tokens.length > mostWords) return { same: false, differences: ['length'] };
  const differences = [
    ...new Set([...compareParts(first, second), ...compareWords(first, second), ...frameWordDifferences(first, second)]),
  ];
  return { same: differences.length === 0, differences };
}

function compareParts(first: ComparedText, second: ComparedText): readonly string[] {
  const differences: string[] = [];
  if (first.language !== null && second.language !== null && first.language !== second.language)
    differences.push(pair('language', [first.language], [second.language]));
  if (!sameLiterals(first, second)) differences.push('quote');

  for (const kind of ['number', 'date'] as const) {
    const [left, right] = [quantities(first, kind), quantities(second, kind)];
    if (left.join('|') !== right.join('|')) differences.push(pair(kind, left, right));
  }
  const [leftUnits, rightUnits] = [unitsOf(first), unitsOf(second)];
  const isPart = (part: readonly string[], whole: readonly string[]): boolean => part.every((unit) => whole.includes(unit));
  if (!isPart(leftUnits, rightUnits) || !isPart(rightUnits, leftUnits)) differences.push(pair('unit', leftUnits, rightUnits));
  const [leftAsked, rightAsked] = [askedTimeUnits(first), askedTimeUnits(second)];
  if (leftAsked !== rightAsked && leftAsked !== '' && rightAsked !== '') differences.push(pair('unit', [leftAsked], [rightAsked]));
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

/** Numbers in order with their units, dates in any order. */
function quantities({ tokens }: ComparedText, kind: 'number' | 'date'): readonly string[] {
  const found: string[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== kind) return;
    const unit = [tokens[index + 1], tokens[index - 1], tokens[index + 2]].find(
      (near) =>
        near?.value.startsWith('unit:') &&
        (near === tokens[index + 1] || /^[$€£¥]$/u.test(near.text) || /^(?:°|degrees?|grad)$/u.test(tokens[index + 1]?.value ?? '')),
    );
    found.push(kind === 'number' && unit ? `${token.value} ${unit.value.slice(5)}` : token.value);
  });
  return kind === 'date' ? found.sort() : found;
}

const asksUnit = new Set(['which', 'what', 'many', 'viele', 'welchem', 'welcher', 'welches', 'welchen', 'in']);
const timeUnits = new Set(['second', 'minute', 'hour', 'day', 'week', 'month', 'year'].map((unit) => `unit:${unit}`));
/** "How many minutes", "in which year": the unit only names the measure of the answer, and another wording omits it. */
const isAskedTime = (tokens: readonly ComparedToken[], index: number): boolean =>
  timeUnits.has(tokens[index]!.value) && asksUnit.has(tokens[index - 1]?.value ?? '');
const unitsAmong = ({ tokens }: ComparedText, isWanted: (index: number) => boolean): readonly string[] => [
  ...new Set(tokens.flatMap(({ value }, index) => (value.startsWith('unit:') && isWanted(index) ? [value.slice(5)] : []))),
];
const unitsOf = (reading: ComparedText): readonly string[] => unitsAmong(reading, (index) => !isAskedTime(reading.tokens, index));
const askedTimeUnits = (reading: ComparedText): string =>
  [...unitsAmong(reading, (index) => isAskedTime(reading.tokens, index))].sort().join(' ');

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
  const isAboutDoing = asksForDoing(first) || asksForDoing(second);
  const isOptional = ({ value, isCapital }: ComparedToken, reading: ComparedText): boolean =>
    (isFraming(value, reading.language) && (!isCapital || reading.language === 'de')) ||
    (leftType === rightType && isDress(leftType, value)) ||
    (isAboutDoing && activities.has(value));
  const bare = (reading: ComparedText, rest: readonly number[]): ComparedToken[] =>
    rest.map((index) => reading.tokens[index]!).filter((token) => !isOptional(token, reading));
  const leftRest = bare(first, left);
  const rightRest = bare(second, right);
  const differences: string[] = [];
  const isReworded =
    leftRest.length > 0 ||
    rightRest.length > 0 ||
    matched.some(({ first: at, second: other }) => first.tokens[at]!.value !== second.tokens[other]!.value);

  differences.push(
    ...oppositesBetween(first, second, new Set(matched.map(({ first: at }) => at)), new Set(matched.map(({ second: at }) => at))),
  );
  const changedForms = matched.flatMap(({ first: at, second: other }) =>
    first.tokens[at]!.value === second.tokens[other]!.value ? [] : [first.tokens[at]!.value, second.tokens[other]!.value],
  );
  const loose = new Set([
    ...left.map((index) => first.tokens[index]!.value),
    ...right.map((index) => second.tokens[index]!.value),
    ...changedForms,
  ]);
  if (typesConflict(leftType, rightType, loose)) differences.push(pair('question', [leftType], [rightType]));

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
      isReworded,
      isCovered: leftRest.length + rightRest.length === 0,
      isExact: left.length + right.length === 0,
    }),
  );
  if (ordersDiffer(first, second, matched, isReworded)) differences.push('order');
  return differences;
}

/** "What does X do?" asks for the tasks of X. */
const asksForDoing = ({ prose }: ComparedText): boolean =>
  /^what (?:do|does|did) .{1,80} do\s?[?.!]*$|^was (?:macht|tut|machen|tun) /u.test(prose);
const activities = new Set(
  'task tasks job jobs role duty duties responsibilities aufgabe aufgaben tätigkeit tätigkeiten pflichten beruf'.split(' '),
);

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
