import { shippedPrompts } from './shipped.js';
import { plannerValues } from './planner-examples.js';

/** Texts in quotes with at least two words: what the formats in prompts hold in place of values. */
const quoted = /"((?:[^"\\\n]|\\.)+\s(?:[^"\\\n]|\\.)+)"/g;
const folded = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** The words with one mark for each number, or row of numbers such as a date; null for less than three words beside them. */
function withoutNumbers(words: string): string | null {
  const masked = words.replace(/\p{N}+(?: \p{N}+)*/gu, '#');
  return masked.split(' ').filter((word) => word !== '#').length < 3 ? null : masked;
}

let known: ReadonlySet<string> | undefined;

/** All of them, made at the first use. */
function echoes(): ReadonlySet<string> {
  const { format = '', examples = '' } = plannerValues({ experts: {}, capabilities: ['research', 'math'] }, 1);
  const formats = shippedPrompts.flatMap(({ text }) => text.split('\n').filter((line) => line.includes('{"') || line.includes('": "')));
  const words = [...formats, format, examples].flatMap((text) => [...text.matchAll(quoted)].map((match) => folded(match[1]!)));
  return new Set(words.filter((one) => one.includes(' ')).flatMap((one) => [one, withoutNumbers(one) ?? one]));
}

/** Words beside numbers from which on nobody writes an example of a prompt by chance. */
const surelyCopied = 5;

/**
 * Whether a value of a reply only repeats the words that the format of a shipped prompt holds in its place, such as `words to search`.
 * Weak models copy them, also with another number such as the year, and they say nothing about the question. Somebody may mean a short example
 * with a number: it is an echo only beside a `question` that names none of its numbers, and only if the value is all that there is (`alone`).
 */
export function isEcho(value: string, question?: string, alone = false): boolean {
  const words = folded(value);
  known ??= echoes();
  if (!known.has(words) && !known.has(withoutNumbers(words) ?? words)) return false;
  const numbers = words.match(/\p{N}+/gu) ?? [];
  if (numbers.length === 0) return true;
  if (question === undefined || (!alone && words.split(' ').length - numbers.length < surelyCopied)) return false;
  const named = folded(question).split(' ');
  return !numbers.some((number) => named.includes(number));
}
