import type { Verdict } from '@conclave/contracts';

const field = (reply: string, name: string): string | undefined =>
  new RegExp(`^[\\s>*_#-]*${name}[\\s*_]*:[\\s*_]*(.*?)[\\s*_]*$`, 'im').exec(reply)?.[1];

const none = /^["'<(]*(none|complete|nothing|n\/a|-)?["'>).]*$/i;

/**
 * The gap detector's reply. COMPLETE, or a gap that is empty or "none", ends the loop; a reply without the status is
 * the documented fallback COMPLETE with `parsed: false`, so that it is counted and reported.
 */
export function readGap(reply: string): Verdict {
  const status = /\b(NEEDS[_ ]MORE[_ ]INFO|COMPLETE)\b/i.exec(field(reply, 'COMPLETION[_ ]STATUS') ?? '')?.[1];
  if (status === undefined) return { verdict: 'complete', gap: '', nextFocus: '', parsed: false };
  const gap = (field(reply, 'GAP') ?? '').trim();
  if (/^complete$/i.test(status) || none.test(gap)) return { verdict: 'complete', gap: '', nextFocus: '', parsed: true };
  const focus = (field(reply, 'NEXT[_ ]FOCUS') ?? '').trim();
  return { verdict: 'needs_more_info', gap, nextFocus: none.test(focus) ? gap : focus, parsed: true };
}
