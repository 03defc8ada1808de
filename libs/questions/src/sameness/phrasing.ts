import type { Match } from './order.js';
import type { ComparedText } from './reading.js';
import { pair } from './small-words.js';

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const reflexives = setOf('myself yourself himself herself itself ourselves yourselves themselves oneself');
const speaker = setOf('me us mir mich uns');
const governing = setOf('to for with of about from by on at in like than für mit von über an zu bei');
/** "Tell me", "give an example to me": the speaker only asks, and is not part of the question. */
const serving = setOf(
  'tell show give help let explain say name list describe recommend suggest advise teach translate read sag sagen zeig zeigen gib geben hilf helfen erklär erkläre erklären nenne nennen',
);
/** Who else is part of it: "what is love" and "what is love to you" are two questions. */
function involvedOf({ tokens }: ComparedText): string {
  const words = tokens.filter(({ kind }) => kind !== 'operator');
  const found = words.flatMap(({ kind, value }, index) => {
    const before = words[index - 1]?.value ?? '';
    const isServed =
      serving.has(before) ||
      serving.has(words[index + 1]?.value ?? '') ||
      (governing.has(before) && serving.has(words[index - 2]?.value ?? ''));
    if (kind !== 'word') return [];
    if (reflexives.has(value)) return ['self'];
    if (speaker.has(value) && !isServed) return ['me'];
    return /^(?:you|dich|dir)$/u.test(value) && governing.has(before) ? ['you'] : [];
  });
  return [...new Set(found)].sort().join(' ');
}

const asking = setOf('who whom what which when where why how wer wen wem was welche welcher welches wann wo warum wie');
const joining = setOf('and or und oder');
/** "Can it fly? If so, why?" */
const asksWhyLast = /[?.!,] (?:and |if so,? |but |und |wenn ja,? )?(?:why|how|warum|wie)(?: so| not| or why not| nicht)?\s?[?.!]*$/u;
/** The question words of a text that asks several things: "who won, and why". */
function askedTogether({ tokens, prose }: ComparedText): string {
  const values = tokens.map(({ value }) => value);
  const isJoined = (index: number): boolean =>
    joining.has(values[index - 1] ?? '') || (governing.has(values[index - 1] ?? '') && joining.has(values[index - 2] ?? ''));
  const isWhyLast = asksWhyLast.test(prose);
  if (!isWhyLast && !values.some((value, index) => asking.has(value) && isJoined(index))) return '';
  const asked = values.filter(
    (value, index) =>
      asking.has(value) &&
      (index === 0 || isJoined(index) || joining.has(values[index + 1] ?? '') || (isWhyLast && index >= values.length - 4)),
  );
  return [...new Set(asked.map((value) => (value === 'which' ? 'what' : value)))].sort().join(' ');
}

const being = setOf('be being');
const having = setOf('have having');
/** "To be a wife" and "to have a wife" share all other words. */
function beingOrHaving({ tokens }: ComparedText): string {
  const [isBeing, isHaving] = [being, having].map((words) => tokens.some(({ value }) => words.has(value)));
  return isBeing === isHaving ? '' : isBeing ? 'be' : 'have';
}

const experience = /^(?:how (?:is|was) it |how (?:does|did|do) (?:it|you|one|people) feel|what(?:'s| is| was) it like)/u;
const means = /^how (?:can|do|should|could|to)(?! (?:it|you|one|people) feel)|way to/u;
/** "How is it to work there?" and "How can I work there?" */
const experienceOrMeans = ({ prose }: ComparedText): string => (experience.test(prose) ? 'experience' : means.test(prose) ? 'means' : '');

/** "What is a kiss?" and "What is in a kiss?" */
const asksForContents = ({ prose }: ComparedText): string =>
  /^what(?:'s| is| are) (?:in|on|at|under|inside|behind) /u.test(prose) ? 'contents' : '';

const acting = setOf('do does did can could will would should must may might has have had');
const sources = setOf('from with at on about into');
/** "How does it earn money?" and "How do I earn money from it?": the same word acts, or is only where something comes from. */
const changesPart = (first: ComparedText, second: ComparedText, matched: readonly Match[]): boolean =>
  matched.some(({ first: at, second: other }) => {
    const [left, right] = [first.tokens[at]!.role, second.tokens[other]!.role];
    return (acting.has(left) && sources.has(right)) || (sources.has(left) && acting.has(right));
  });

/** Differences in what a question is built around, between texts whose words were matched. */
export function phrasingDifferences(first: ComparedText, second: ComparedText, matched: readonly Match[]): readonly string[] {
  const compared: readonly (readonly [kind: string, of: (reading: ComparedText) => string, isOneEnough: boolean])[] = [
    ['person', involvedOf, true],
    ['question', askedTogether, true],
    ['word', beingOrHaving, false],
    ['question', experienceOrMeans, false],
    ['order', asksForContents, true],
  ];
  const differences = compared.flatMap(([kind, of, isOneEnough]) => {
    const [left, right] = [of(first), of(second)];
    return left !== right && (isOneEnough || (left !== '' && right !== '')) ? [pair(kind, [left], [right])] : [];
  });
  return changesPart(first, second, matched) ? [...differences, 'order'] : differences;
}
