import { bounded, oneLine } from './quoting.js';

/** Longest arguments of a call beside its result, and longest value among them, in characters. */
const longestCall = 200;
const longestValue = 80;

/** Arguments of a tool call in one short line, such as `date: 2026-12-24, count: 2`; empty without any. */
export function callText(args: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(args)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${bounded(typeof value === 'string' ? value : JSON.stringify(value), longestValue)}`);
  // Invisible characters could make two calls look the same.
  return bounded(oneLine(shown.join(', ').replace(/[\p{Cf}\p{Cs}]|(?!\s)\p{Cc}/gu, '')), longestCall);
}
