import type { Verdict } from '@conclave/contracts';
import { isLead, markedLine, undecorated } from './marked-lines.js';

const names = ['COMPLETION_STATUS', 'GAP', 'NEXT_FOCUS'] as const;
const none = /^["'<([]*(none|complete|nothing|n\/a|-)?["'>)\].]*$/i;
/** Longest gap and focus that are kept, characters. */
const longest = 1_000;

/** Values by marker; a value may begin on the line behind its marker and go on until the next one. */
function fields(reply: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let open: string | null = null;
  for (const line of reply.split(/\r?\n/)) {
    const marked = markedLine(line, names);
    if (marked) {
      open = found.has(marked.name) ? null : marked.name;
      if (open) found.set(open, marked.value);
    } else if (open !== null && found.get(open)!.length < longest)
      found.set(open, `${found.get(open)!} ${undecorated(line, isLead)}`.trim());
  }
  return found;
}

/**
 * The gap detector's reply. COMPLETE, or a gap that is empty or "none", ends the loop; a reply without the status (or with both)
 * is the documented fallback COMPLETE with `parsed: false`, so that it is counted and reported.
 */
export function readGap(reply: string): Verdict {
  const found = fields(reply);
  const said = new Set(
    (found.get('COMPLETION_STATUS') ?? '')
      .toUpperCase()
      .replaceAll(/NEEDS MORE INFO/g, 'NEEDS_MORE_INFO')
      .match(/\b(NEEDS_MORE_INFO|COMPLETE)\b/g),
  );
  if (said.size !== 1) return { verdict: 'complete', gap: '', nextFocus: '', parsed: false };
  const gap = (found.get('GAP') ?? '').slice(0, longest);
  if (said.has('COMPLETE') || none.test(gap)) return { verdict: 'complete', gap: '', nextFocus: '', parsed: true };
  const focus = (found.get('NEXT_FOCUS') ?? '').slice(0, longest);
  return { verdict: 'needs_more_info', gap, nextFocus: none.test(focus) ? gap : focus, parsed: true };
}
