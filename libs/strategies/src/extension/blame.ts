import { oneLine } from '../prompts/quoting.js';
import { EndlessCall } from './bounded.js';

/** Longest message of an error of an extension that is shown, in characters. */
const longestMessage = 400;
/**
 * Whether a line of a stack belongs to Node, a package or the product (as built, or as its source maps show it), and not to an extension.
 */
const isElsewhere = (line: string): boolean =>
  line.includes('node:') || /\/node_modules\/|\/(?:libs|apps)\/[\w/-]+\/src\//.test(line) || line.includes(`${import.meta.dirname}/`);
const mistakes = [TypeError, ReferenceError, RangeError, SyntaxError] as const;
const place = /([^\s()/]+\.[cm]?[jt]s:\d+:\d+)\)?$/;

/** What an extension threw, as a sentence for its author, with the name of the file and the line. */
export function blame(error: unknown): string {
  if (error instanceof EndlessCall) return error.message;
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const words = oneLine(said).slice(0, longestMessage);
  const frames = (error instanceof Error ? (error.stack ?? '') : '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  // A built-in function, such as `at Array.push (<anonymous>)`, has no place: its caller counts.
  const at = frames.flatMap((line) => (isElsewhere(line) ? [] : (place.exec(line)?.[1] ?? [])))[0];
  return at ? `${words} (${at})` : words;
}

/**
 * What an extension threw, as a sentence for those who read the result: only a mistake in its code has a place, because an error that it
 * throws on purpose is meant for them.
 */
export function saying(error: unknown): string {
  const isMistake = mistakes.some((kind) => error instanceof kind);
  return isMistake ? blame(error) : oneLine(error instanceof Error ? error.message : String(error)).slice(0, longestMessage);
}
