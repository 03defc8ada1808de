import { longestToolContent } from './tools.js';

/** Control characters, invisible formatting and unpaired surrogates: they can hide or rewrite text that a person or a model reads. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}]/gu;
const unseenExceptLines = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}]/gu;

/** Foreign text as one line without invisible characters, at most `longest` characters. */
export function oneLine(text: string, longest: number): string {
  const line = text
    // Ignores text far beyond the bound.
    .slice(0, longest * 4)
    .replace(/\s+/gu, ' ')
    .replace(unseen, '')
    .trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`;
}

/** Foreign text with its line breaks, without invisible characters, cut at `longest` characters with a sentence that says so. */
export function boundedText(text: string, longest = longestToolContent): string {
  if (text.length <= longest) return text.replace(unseenExceptLines, '');
  const note = `\n[The result is cut: ${text.length} characters, cut to ${longest}.]`;
  return text.slice(0, longest - note.length).replace(unseenExceptLines, '') + note;
}
