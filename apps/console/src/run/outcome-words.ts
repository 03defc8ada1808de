import type { Tone } from '../components/page.js';

/** The engine's outcomes in words for people. */
export const outcomes: Readonly<Record<string, readonly [string, Tone]>> = {
  completed: ['Answered', 'good'],
  limit_reached: ['A limit was reached', 'warn'],
  stuck: ['Stuck', 'warn'],
  stalled: ['No progress', 'warn'],
  cancelled: ['Cancelled', 'plain'],
  failed: ['Failed', 'bad'],
};

/** The state of a run: its outcome, or its current phase. */
export const outcomeOf = ({ status, terminal }: { readonly status: string; readonly terminal: boolean }): readonly [string, Tone] =>
  terminal ? (outcomes[status] ?? [status, 'plain']) : [status.replaceAll('_', ' '), 'busy'];
