import type { ScriptedRole } from './schedule.js';

/** A note of the fake model server about one call. Times are milliseconds of the machine's monotonic clock. */
export interface CallNote {
  /** Number of the call on the server, from 1. */
  readonly call: number;
  readonly role: ScriptedRole;
  /** The `mark` of the question it belongs to. */
  readonly mark: string;
  readonly at: number;
}

/** Milliseconds of the monotonic clock, which all processes of the machine share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A token of a streamed answer with its send time: `t<index>@<milliseconds> `. */
export const stampedToken = (index: number, at: number): string => `t${index}@${at.toFixed(3)} `;
const stamp = /t(\d+)@(\d+\.\d+)/g;

/** Tokens found in a text, in order. */
export function tokensIn(text: string): readonly { readonly index: number; readonly sentAt: number }[] {
  return [...text.matchAll(stamp)].map(([, index, at]) => ({ index: Number(index), sentAt: Number(at) }));
}

/** A marker word in the question, and so in every prompt of its run. */
export const markOf = (text: string): string => /mark-[a-z0-9-]+/.exec(text)?.[0] ?? 'none';

/** Part of a task: how long the fake model works before it answers. */
export const workMark = (ms: number): string => `it takes ${ms} ms`;
/** Milliseconds from a `workMark` in the text; null without one. */
export function workOf(text: string): number | null {
  const ms = /it takes (\d+) ms/.exec(text)?.[1];
  return ms === undefined ? null : Number(ms);
}
