import { shippedPrompts } from './shipped.js';
import { plannerValues } from './planner-examples.js';

/** Texts in quotes with at least two words: what the formats in prompts hold in place of values. */
const quoted = /"((?:[^"\\\n]|\\.)+\s(?:[^"\\\n]|\\.)+)"/g;
const folded = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

let known: ReadonlySet<string> | undefined;

/** All of them, made at the first use. */
function echoes(): ReadonlySet<string> {
  const { format = '', examples = '' } = plannerValues({ experts: {}, capabilities: ['research', 'math'] }, 1);
  const formats = shippedPrompts.flatMap(({ text }) => text.split('\n').filter((line) => line.includes('{"') || line.includes('": "')));
  return new Set(
    [...formats, format, examples].flatMap((text) =>
      [...text.matchAll(quoted)].map((match) => folded(match[1]!)).filter((words) => words.includes(' ')),
    ),
  );
}

/**
 * Whether a value of a reply only repeats the words that the format of a shipped prompt holds in its place, such as `words to search`.
 * Weak models copy them, and they say nothing about the question. Somebody may mean an example with a number: it is an echo only beside a
 * question that names none of its numbers.
 */
export function isEcho(value: string, question?: string): boolean {
  const words = folded(value);
  if (!(known ??= echoes()).has(words)) return false;
  const numbers = words.match(/\p{N}+/gu) ?? [];
  return numbers.length === 0 || (question !== undefined && !numbers.some((number) => folded(question).split(' ').includes(number)));
}
