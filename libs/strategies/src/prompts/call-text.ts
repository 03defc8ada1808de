import type { PlannedTask } from '@conclave/contracts';
import { bounded, oneLine } from './quoting.js';

/** Longest arguments of a call beside its result, and longest value among them, in characters. */
const longestCall = 200;
const longestValue = 80;

/** What a task was to do, for the list of failures: its query or instruction, and the arguments of its call. */
export function askedText({ task, query, args }: Pick<PlannedTask, 'task' | 'query' | 'args'>): string {
  const given = callText(args ?? {});
  return given === '' ? (query ?? task) : `${query ?? task} (${given})`;
}

/** Arguments of a tool call in one short line, such as `date: 2026-12-24, count: 2`; empty without any. */
export function callText(args: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(args)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${bounded(typeof value === 'string' ? value : JSON.stringify(value), longestValue)}`);
  // Invisible characters could make two calls look the same.
  return bounded(oneLine(shown.join(', ').replace(/[\p{Cf}\p{Cs}]|(?!\s)\p{Cc}/gu, '')), longestCall);
}
