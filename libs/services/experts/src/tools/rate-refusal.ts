import type { ToolReply } from '@conclave/ports';
import { foldedName } from '@conclave/strategies';
import { objectIn } from './reported-failure.js';

/** A call that a tool refused because there were too many: it was not made. */
export interface RateRefusal {
  /** Milliseconds after which it may be made again; null if the tool does not say. */
  readonly retryAfterMs: number | null;
}

/** Longest text that is read here, in characters: a refusal is short. */
const longest = 2_000;
const statuses: ReadonlySet<string> = new Set(['status', 'statuscode', 'httpstatus', 'code', 'errorcode']);
const kinds: ReadonlySet<string> = new Set(['error', 'errortype', 'type', 'kind', 'reason', 'code', 'errorcode']);
const names = /^(?:error)?(?:rate|request)limit(?:ed|exceeded|reached)?(?:error)?$|^(?:error)?toomanyrequests(?:error)?$/;
const waits = /^retry(?:after|in)(?:ms|millis|milliseconds|s|sec|secs|seconds)?$/;
const inWords =
  /\b(?:retry(?:[ -]after)?|try again|wait)(?: in| after|:)? {0,3}(\d{1,6}(?:\.\d{1,3})?) {0,3}(ms|milliseconds?|s|secs?|seconds?|minutes?)\b/i;
const saysSo = /\b429\b.{0,80}\btoo many requests\b|\brate[ _-]limit(?:ed| exceeded| reached)\b/i;

/** Whether a failed result says that the call was refused for its rate, as status 429 does; null for any other. */
export function rateRefusal(reply: Pick<ToolReply, 'structured' | 'content'>): RateRefusal | null {
  const text = reply.content.trim();
  if (text.length > longest) return null;
  const members = membersOf(reply.structured ?? objectIn(text), 0);
  const named = members.some(
    ([name, value]) =>
      (statuses.has(name) && String(value) === '429') || (kinds.has(name) && typeof value === 'string' && names.test(foldedName(value))),
  );
  if (!named && (members.length > 0 || !saysSo.test(text))) return null;
  const [said] = members.filter(([name, value]) => waits.test(name) && Number.isFinite(Number(value)) && Number(value) >= 0);
  if (said) return { retryAfterMs: Number(said[1]) * (/(?:ms|millis|milliseconds)$/.test(said[0]) ? 1 : 1_000) };
  const [, count, unit = ''] = inWords.exec(text) ?? [];
  if (count === undefined) return { retryAfterMs: null };
  return { retryAfterMs: Number(count) * (/^m(?:s|illi)/i.test(unit) ? 1 : /^min/i.test(unit) ? 60_000 : 1_000) };
}

/** The members of an object and of the objects in it, two levels deep, by folded name. */
function membersOf(value: unknown, depth: number): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > 2) return [];
  return Object.entries(value).flatMap(([name, member]) => [[foldedName(name), member] as const, ...membersOf(member, depth + 1)]);
}
