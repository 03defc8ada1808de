import type { Match } from './order.js';
import type { ComparedText, ComparedToken } from './reading.js';

/** A difference as `kind: first / second`. */
export const pair = (kind: string, left: readonly string[], right: readonly string[]): string =>
  `${kind}: ${left.join(' ') || '-'} / ${right.join(' ') || '-'}`;

/** "How often must I" and "How often may I" are different questions: groups of words that express duty, permission and advice. */
const modals: readonly ReadonlySet<string>[] = [
  new Set('must required obliged obligatory mandatory muss müssen musst verpflichtet nötig pflicht'.split(' ')),
  new Set(
    'can could may might allowed permitted able possible safe ok okay möglich zulässig kann können kannst darf dürfen darfst erlaubt gestattet'.split(
      ' ',
    ),
  ),
  new Set('should ought soll sollte sollten sollen'.split(' ')),
];
/** "have to" and "need to" mean must, but neither is a single word. */
const isHavingTo = (tokens: readonly ComparedToken[], index: number): boolean =>
  /^(?:ha(?:ve|s|d)|needs?)$/u.test(tokens[index]!.value) && tokens[index + 1]?.value === 'to';
const telling = new Set('tell explain show give say describe sagen erklären zeigen verraten nennen geben'.split(' '));
/** "Could you tell me …": the modal asks for the answer and is not part of the question. */
const isPolite = (tokens: readonly ComparedToken[], index: number): boolean =>
  index < 3 &&
  /^(?:you|du|ihr|sie)$/u.test(tokens[index + 1]?.value ?? '') &&
  tokens.slice(index + 2, index + 5).some(({ value }) => telling.has(value));
const modalsOf = ({ tokens }: ComparedText): string =>
  modals
    .map((modal, at) =>
      tokens.some(({ value }, index) => (modal.has(value) && !isPolite(tokens, index)) || (at === 0 && isHavingTo(tokens, index)))
        ? 'x'
        : '-',
    )
    .join('');

/** Whether the person asked for acts ("Who shot Kennedy?", "Wer …") or is acted on ("Who did Kennedy shoot?", "Wen …"); empty otherwise. */
const rolesOfAsked = ({ prose }: ComparedText): string =>
  /^(?:who (?:did|does|do)|whom|wen|wem)\s/u.test(prose)
    ? 'object'
    : /^(?:who (?!is|are|was|were|will|has|have|had|can|should)|wer\s)/u.test(prose)
      ? 'subject'
      : '';

const presents = new Set("is are am 's do does can could should would may must ist sind".split(' '));
const pasts = new Set('was were did had war waren wurde wurden hatte hatten'.split(' '));
const futures = new Set("will 'll shall".split(' '));
function tenseOf({ language, tokens }: ComparedText): string {
  const values = tokens.filter(({ kind }) => kind === 'word').map(({ value }) => value);
  // "was" means "what" in German.
  if (values.some((value) => pasts.has(value) && !(value === 'was' && language !== 'en'))) return 'past';
  if (values.some((value) => futures.has(value) && language === 'en')) return 'future';
  return values.some((value) => presents.has(value)) ? 'present' : '';
}

const possessors: readonly ReadonlySet<string>[] = [
  'my mein meine meinen meinem meiner',
  'your dein deine deinen deinem deiner',
  'his',
  'her',
  'their',
  'our unser unsere unseren',
].map((words) => new Set(words.split(' ')));
const possessorsOf = ({ tokens }: ComparedText): string =>
  possessors.map((words) => (tokens.some(({ value }) => words.has(value)) ? 'x' : '-')).join('');

/** Small words that change a question even if all others are the same: "wrote" and "wrote about". */
const turning = new Set(
  'about against during over under per like only even through among behind beyond über gegen während pro nur sogar durch hinter jenseits'.split(
    ' ',
  ),
);
const turningOf = ({ tokens }: ComparedText): string =>
  tokens
    .map(({ value }) => value)
    .filter((value) => turning.has(value))
    .sort()
    .join(' ');

/** Amounts after "too" or "zu". Without these, "much" and "viel" are only framing. */
const excessOf = ({ prose }: ComparedText): string =>
  [...prose.matchAll(/(?<!\p{L})(?:too|zu) (much|many|little|few|viele?|wenige?)(?!\p{L})/gu)]
    .map(([, amount]) => (/^[lfw]/u.test(amount!) ? '<' : '>'))
    .join('');

const auxiliaries = new Set(
  "is are am was were be been do does did has have had will would can could should may might must 's 're 've 'd 'll".split(' '),
);
/** "Who owns it?" and "Who owned it?": the verb itself carries the tense if no other word does. */
function verbTenseDiffers(first: ComparedText, second: ComparedText, matched: readonly Match[]): boolean {
  if (first.language === 'de' || second.language === 'de') return false;
  if ([first, second].some(({ tokens }) => tokens.some(({ value }) => auxiliaries.has(value)))) return false;
  const isPast = (word: string): boolean => word.endsWith('ed');
  return matched.some(({ first: at, second: other }) => isPast(first.tokens[at]!.value) !== isPast(second.tokens[other]!.value));
}

const negating = new Set("not n't no never without except neither nicht kein keine keinen keinem keiner nie ohne außer weder".split(' '));
const comparing = new Set(['than', 'als']);
/** "Not red but blue" and "not blue but red": equally many negations, but before other words. */
function negationMoves(first: ComparedText, second: ComparedText, matched: readonly Match[]): boolean {
  const isNegated = (token: ComparedToken): boolean => negating.has(token.role);
  const only = (here: (match: Match) => boolean, there: (match: Match) => boolean): readonly Match[] =>
    matched.filter((match) => here(match) && !there(match));
  const inFirst = (match: Match): boolean => isNegated(first.tokens[match.first]!);
  const inSecond = (match: Match): boolean => isNegated(second.tokens[match.second]!);
  // "do not contain gluten" and "contain no gluten": the words are adjacent, and the negation covers both.
  return only(inFirst, inSecond).some((left) =>
    only(inSecond, inFirst).some((right) => Math.abs(left.first - right.first) > 1 && Math.abs(left.second - right.second) > 1),
  );
}
const comparisonTurns = (first: ComparedText, second: ComparedText, matched: readonly Match[]): boolean =>
  [first, second].every(({ tokens }) => tokens.some(({ value }) => comparing.has(value))) &&
  matched.some(({ first: at, second: other }) => comparing.has(first.tokens[at]!.role) !== comparing.has(second.tokens[other]!.role));

export interface WordComparison {
  /** At least one asks for a way: "How do I", "How can I" and "How should I" are the same question. */
  readonly isAboutManner: boolean;
  /** At least one asks for a place or a duration: "Where can I buy it?" and "Where do I buy it?" are the same question. */
  readonly mayOmitModal: boolean;
  /** Uses other words, or other forms of them. */
  readonly isReworded: boolean;
  /** No content word occurs on one side only. */
  readonly isCovered: boolean;
  /** No framing word does either. */
  readonly isExact: boolean;
}

/** Differences between the grammatical words of texts whose other words were matched. */
export function smallWordDifferences(
  first: ComparedText,
  second: ComparedText,
  matched: readonly Match[],
  words: WordComparison,
): readonly string[] {
  const differences: string[] = [];
  const compare = (kind: string, of: (reading: ComparedText) => string, isSaid: (value: string) => boolean): void => {
    const [left, right] = [of(first), of(second)];
    if (left !== right && isSaid(left) && isSaid(right)) differences.push(pair(kind, [left], [right]));
  };
  const isMarked = (value: string): boolean => value.includes('x');
  if (!words.isAboutManner) compare('opposite', modalsOf, words.mayOmitModal ? isMarked : () => true);
  compare('word', possessorsOf, isMarked);
  compare('scope', excessOf, () => true);
  compare('order', rolesOfAsked, (value) => value !== '');
  if (!words.isReworded) compare('tense', tenseOf, (value) => value !== '');
  const willBe = (reading: ComparedText): string => (tenseOf(reading) === 'future' ? 'future' : 'other');
  if (words.isCovered) compare('tense', willBe, () => true);
  if (words.isExact) compare('word', turningOf, () => true);
  if (words.isExact && verbTenseDiffers(first, second, matched)) differences.push('tense');
  if (negationMoves(first, second, matched)) differences.push('negation');
  if (comparisonTurns(first, second, matched)) differences.push('order');
  return differences;
}
