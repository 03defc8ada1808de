import { namesIn, tellingWords } from '@conclave/questions';
import { languageOf } from '@conclave/questions';
import { termsOf } from './passages.js';

/** Share of the telling words of a question that a passage about it holds. */
const shareHeld = 0.5;

/**
 * Whether a passage is about what a question names: it holds half of its telling words or more and, where the question names somebody or
 * something, more than half of the words of the names. Word forms, case and accents aside.
 */
export function isAbout(question: string, passage: string): boolean {
  const wanted = new Set(termsOf(tellingWords(question).join(' ')));
  if (wanted.size === 0) return false;
  const held = new Set(termsOf(passage));
  const found = [...wanted].filter((term) => held.has(term)).length;
  if (found / wanted.size < shareHeld) return false;
  // German writes every noun with a capital: there capitals name nothing.
  if (languageOf(question.toLowerCase().match(/[\p{L}']+/gu) ?? []) === 'de') return true;
  const names = termsOf(namesIn(question).join(' '));
  return names.length === 0 || names.filter((term) => held.has(term)).length > names.length / 2;
}

/** Whether a passage may bear on a question: it is about it, or holds a word of a name as the question writes it. Errs towards true. */
export function mayBearOn(question: string, passage: string): boolean {
  if (isAbout(question, passage)) return true;
  const written = new Set(passage.match(/[\p{L}\p{N}]+/gu));
  return namesIn(question).some((name) => written.has(name));
}
