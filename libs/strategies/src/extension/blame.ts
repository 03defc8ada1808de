import { oneLine } from '../prompts/quoting.js';
import { EndlessCall } from './bounded.js';

/** Longest message of an error of an extension that is shown, in characters. */
const longestMessage = 400;
/** Errors within an error that are shown. */
const mostReasons = 3;
/**
 * Whether a line of a stack belongs to Node, a package or the product (as built, or as its source maps show it), and not to an extension.
 */
const isElsewhere = (line: string): boolean =>
  line.includes('node:') || /\/node_modules\/|\/(?:libs|apps)\/[\w/-]+\/src\//.test(line) || line.includes(`${import.meta.dirname}/`);
const mistakes = [TypeError, ReferenceError, RangeError, SyntaxError] as const;
const place = /([^\s()/]+\.[cm]?[jt]s:\d+:\d+)\)?$/;

/** A value that is no Error, as JSON if it has such a form. Never throws. */
function written(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return `a value of the type ${typeof value}`;
  }
}

/** What was thrown, in words: also for what is no Error, and with the cause, without which `fetch failed` says nothing. */
function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return `it threw ${written(error)}, which is no Error`;
  const { cause } = error;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : cause === undefined ? [] : [cause];
  const reasons = inner.slice(0, mostReasons).map((one) => (one instanceof Error ? one.message || one.name : written(one)));
  return [error.message, reasons.join('; ')].filter((part) => part !== '').join(': ') || error.name;
}

/** What an extension threw, as a sentence for its author, with the name of the file and the line. */
export function blame(error: unknown): string {
  if (error instanceof EndlessCall) return error.message;
  const said = error instanceof Error ? `${error.name}: ${wordsOf(error)}` : wordsOf(error);
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
  return isMistake ? blame(error) : oneLine(wordsOf(error)).slice(0, longestMessage);
}
