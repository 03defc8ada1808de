import { namesIn, tellingWords } from '@conclave/questions';
import { languageOf } from '@conclave/questions';
import { termsOf } from './passages.js';

/** Share of a question's significant words that a passage about it must contain. */
const shareHeld = 0.5;

/**
 * Whether a passage is about what a question names: it contains at least half of its significant words and, if the question has names,
 * more than half of their words. Ignores word forms, case and accents.
 */
export function isAbout(question: string, passage: string): boolean {
  const wanted = new Set(termsOf(tellingWords(question).join(' ')));
  if (wanted.size === 0) return false;
  const held = new Set(termsOf(passage));
  const found = [...wanted].filter((term) => held.has(term)).length;
  if (found / wanted.size < shareHeld) return false;
  // German capitalises every noun, so capitals do not show names.
  if (languageOf(question) === 'de') return true;
  const names = termsOf(namesIn(question).join(' '));
  return names.length === 0 || names.filter((term) => held.has(term)).length > names.length / 2;
}

/** Whether a passage may concern a question: it is about it, or contains a word of a name in the question. Errs towards true. */
export function mayBearOn(question: string, passage: string): boolean {
  if (isAbout(question, passage)) return true;
  const written = new Set(passage.match(/[\p{L}\p{N}]+/gu));
  return namesIn(question).some((name) => written.has(name));
}

/**
 * Whether a question names a document by its title: each word of the title, except an addition in brackets, belongs to a name in the
 * question.
 */
export function namesTitle(question: string, title: string): boolean {
  const plain = title.replace(/\.\w{2,5}$/, '').replace(/(?<!\s)\s*\([^()]*\)$/, '');
  const words = termsOf(plain);
  const names = new Set(termsOf(namesIn(question).join(' ')));
  return words.length > 0 && words.every((word) => names.has(word));
}
