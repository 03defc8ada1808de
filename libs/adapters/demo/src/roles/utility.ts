import { readUtilityPrompt } from '@conclave/contracts';
import { untitled } from '../language/words.js';

const wordsOf = (text: string): readonly string[] =>
  text.match(/[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu)?.map((word) => word.replace(/[.'’-]+$/u, '')) ?? [];

/** The reply to a chat front end's own prompt, such as a title or key words, in the requested shape; null for any other prompt. */
export function utility(prompt: string): string | null {
  const read = readUtilityPrompt(prompt);
  if (!read) return null;
  const { shape, turns } = read;
  // Without marked turns, the chat is below the instruction.
  const asked = turns.find((turn) => turn.asked)?.text ?? prompt.split('\n').findLast((line) => line.trim() !== '') ?? '';
  const words = wordsOf(asked).filter((word) => !untitled.has(word.toLowerCase()));
  const title = words.slice(0, 5).join(' ');
  if (!shape) return title || 'Chat';
  // It fills tags and search words; it invents no follow-up questions, completions or images.
  const listed = shape.member === 'queries' ? [title] : shape.member === 'tags' ? words.slice(0, 3) : [];
  return JSON.stringify({ [shape.member]: shape.list ? listed.filter(Boolean) : turns.length > 0 ? title : '' });
}
