import { isFraming } from './lexicon.js';
import { isDress, wantsNoun, type QuestionType } from './question-type.js';
import type { ComparedText, ComparedToken } from './reading.js';

/** "What does X do?" asks for the tasks of X. */
export const asksForDoing = ({ prose }: ComparedText): boolean =>
  /^what (?:\p{L}+ )?(?:do|does|did) .{1,80} do\s?[?.!]*$|^was (?:macht|tut|machen|tun) /u.test(prose);
const activities = new Set(
  'task tasks job jobs role duty duties responsibilities aufgabe aufgaben tätigkeit tätigkeiten pflichten beruf'.split(' '),
);
export const namesActivity = ({ tokens }: ComparedText): boolean => tokens.some(({ value }) => activities.has(value));

/** Framing words that may stand anywhere. Others frame only what comes after them. */
const anywhere = new Set(
  'actually really just simply exactly currently now right moment present please kindly possibly also anyone happen happens happened exist exists existing word sentence gibt enthält enthalten wort'.split(
    ' ',
  ),
);
const auxiliary = /^(?:do|does|did|can|could|will|would|should|must)$/u;

export interface Framed {
  /** Kinds of both questions. */
  readonly types: readonly [QuestionType, QuestionType];
  /** At least one asks what something does. */
  readonly isAboutDoing: boolean;
  /** Positions of the words that the other text has, too. */
  readonly shared: ReadonlySet<number>;
}

/**
 * Words of `rest` that are not only the frame of a question. A framing word after the first shared word narrows the question: "the longest
 * train route" is not "the longest train", and "what is it good for" is not "what is it".
 */
export function withoutFrame(reading: ComparedText, rest: readonly number[], framed: Framed): readonly ComparedToken[] {
  const start = Math.min(...framed.shared);
  return rest.filter((index) => !isFrame(reading, index, start, framed)).map((index) => reading.tokens[index]!);
}

function isFrame(
  { tokens, language, prose }: ComparedText,
  index: number,
  start: number,
  { types, isAboutDoing, shared }: Framed,
): boolean {
  const { value, isCapital } = tokens[index]!;
  const before = tokens[index - 1]?.value ?? '';
  if (types[0] === types[1] && isDress(types[0], value)) return true;
  if (isAboutDoing && activities.has(value)) return true;
  if (!isFraming(value, language) || (isCapital && language !== 'de')) return false;
  // "What happens when …?" does not ask what it is.
  if (value.startsWith('happen') && before === 'what') return false;
  if (index < start) {
    const after = tokens[index + 1]?.value ?? '';
    // "I want to know", but not "do you want to".
    if (value === 'want') return before === 'i';
    // "The best way to do it" only asks how; the best singer is not any singer.
    if (value === 'best') return types.includes('manner') || /^ways?$/u.test(after);
    return value !== 'use' || after !== 'of';
  }
  // "How much sugar does it contain?" asks how much is in it; "What does it contain?" does not ask what it is.
  if (value.startsWith('contain')) return !/^what (?:do|does) /u.test(prose);
  if (anywhere.has(value) || wantsNoun(types, value)) return true;
  if (value === 'people') return auxiliary.test(before);
  if (value === 'city' || value === 'town') return shared.has(index - 1);
  return value === 'mean' && /^what (?:do|does) /u.test(prose);
}
