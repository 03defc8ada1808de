import { readUtilityPrompt } from '@conclave/contracts';
import { untitled } from '../language/words.js';

const wordsOf = (text: string): readonly string[] =>
  text.match(/[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu)?.map((word) => word.replace(/[.'’-]+$/u, '')) ?? [];

/** What a chat front end asks for itself: a title or key words of the first question, in the shape it wants; null for any other prompt. */
export function utility(prompt: string): string | null {
  const read = readUtilityPrompt(prompt);
  if (!read) return null;
  const { shape, turns } = read;
  const asked = turns.find((turn) => turn.asked)?.text ?? '';
  const words = wordsOf(asked).filter((word) => !untitled.has(word.toLowerCase()));
  const title = words.slice(0, 5).join(' ');
  if (!shape) return title || 'Chat';
  // Key words are tags and search words; questions that could follow, the rest of a sentence or an image it does not make up.
  const listed = shape.member === 'queries' ? [title] : shape.member === 'tags' ? words.slice(0, 3) : [];
  return JSON.stringify({ [shape.member]: shape.list ? listed.filter(Boolean) : turns.length > 0 ? title : '' });
}
