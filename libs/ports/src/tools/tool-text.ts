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

/**
 * Foreign text with its line breaks, without invisible characters, cut at `longest` characters with a sentence that says so. Of JSON the
 * ends of its lists and of long texts are left out, so that the rest can still be read as JSON.
 */
export function boundedText(text: string, longest = longestToolContent): string {
  if (text.length <= longest) return text.replace(unseenExceptLines, '');
  const said = `[The result is cut: ${text.length} characters, cut to ${longest}`;
  const json = shorterJson(text, longest - said.length - longestListNote);
  if (json?.isWhole) return json.text.replace(unseenExceptLines, '');
  const note = json ? `\n${said}; lists have at most their first ${json.lists} entries.]` : `\n${said}.]`;
  return (json?.text ?? text.slice(0, longest - note.length)).replace(unseenExceptLines, '') + note;
}

const longestListNote = 70;
/** Fewest members of an object, and characters of a text, that are kept. */
const fewestMembers = 64;
const shortestText = 4_000;
/** A number that would be another one once it is read. */
const inexact = /[[:,]\s*-?\d{17,}\s*[,\]}]/;

interface ShorterJson {
  readonly text: string;
  /** Most entries that are left of a list. */
  readonly lists: number;
  readonly isWhole: boolean;
}

/** JSON with as much of its lists and texts as fits; null if a text is no JSON, or cannot be cut in this way. */
function shorterJson(text: string, longest: number): ShorterJson | null {
  if (!/^\s*[[{]/.test(text) || inexact.test(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    const compact = JSON.stringify(value);
    if (compact.length <= longest) return { text: compact, lists: 0, isWhole: true };
    const fitting = (lists: number): ShorterJson | null => {
      const json = JSON.stringify(shortened(value, lists));
      return json.length <= longest ? { text: json, lists, isWhole: false } : null;
    };
    let best = fitting(1);
    let above = 2;
    // Upwards, so that no attempt is much longer than what fits.
    for (let next = best; next && above <= longest; above *= 2) {
      next = fitting(above);
      if (!next) break;
      best = next;
    }
    while (best && above - best.lists > 1) {
      const lists: number = Math.floor((best.lists + above) / 2);
      const next = fitting(lists);
      if (next) best = next;
      else above = lists;
    }
    return best;
  } catch (error) {
    // It only begins like JSON, or is nested too deeply.
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

function shortened(value: unknown, lists: number): unknown {
  if (typeof value === 'string') {
    const longest = Math.max(shortestText, 20 * lists);
    return value.length <= longest ? value : `${value.slice(0, longest)}…`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, lists).map((entry) => shortened(entry, lists));
  const members = Object.entries(value).slice(0, Math.max(fewestMembers, lists));
  return Object.fromEntries(members.map(([name, member]) => [name, shortened(member, lists)]));
}
