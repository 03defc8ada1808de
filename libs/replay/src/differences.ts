import { canonicalJson } from '@conclave/loop';
import type { AskedCall } from './recorded-calls.js';

/** One member that differs from the recording; null if it is absent. Texts are cut to the part that differs. */
export interface MemberDifference {
  /** Such as `tasks[0].query`. */
  readonly path: string;
  readonly recorded: string;
  readonly now: string;
}

/** First line of a prompt that differs from the recording; `recorded` or `now` is null if that prompt has fewer lines. */
export interface LineDifference {
  /** Number of the message, from 1. */
  readonly message: number;
  readonly role: string;
  /** Line inside the message, from 1. */
  readonly line: number;
  readonly recorded: string | null;
  readonly now: string | null;
}

/** How a call's request differs: in a line of its prompt, or in other members; in neither if only a hash was stored. */
export interface RequestDifference {
  readonly line: LineDifference | null;
  readonly members: readonly MemberDifference[];
}

const shownBefore = 30;
const shownAtMost = 160;
const mostMembers = 6;

/** The first few members that differ between two JSON values. */
export function membersThatDiffer(recorded: unknown, now: unknown): readonly MemberDifference[] {
  const found: MemberDifference[] = [];
  collect(recorded, now, '', found);
  return found.slice(0, mostMembers);
}

function collect(recorded: unknown, now: unknown, path: string, found: MemberDifference[]): void {
  if (found.length >= mostMembers || canonicalJson(recorded) === canonicalJson(now)) return;
  if (isObject(recorded) && isObject(now) && Array.isArray(recorded) === Array.isArray(now)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)]))
      collect(recorded[key], now[key], Array.isArray(recorded) ? `${path}[${key}]` : path ? `${path}.${key}` : key, found);
    return;
  }
  const [was, is] = window(textOf(recorded), textOf(now));
  found.push({ path: path || 'value', recorded: was, now: is });
}

export function requestDifference({ recorded, name, request }: AskedCall): RequestDifference {
  if (!recorded) return { line: null, members: [] };
  const renamed = recorded.model === name ? [] : [{ path: 'model', recorded: recorded.model, now: name }];
  if (!isObject(recorded.request) || !isObject(request)) return { line: null, members: renamed };
  const { messages: was, ...wasRest } = recorded.request;
  const { messages: is, ...isRest } = request;
  const line = Array.isArray(was) && Array.isArray(is) ? lineThatDiffers(messagesOf(was), messagesOf(is)) : null;
  return { line, members: line ? [] : membersThatDiffer(wasRest, isRest) };
}

interface Message {
  readonly role: string;
  readonly content: string;
}
const messagesOf = (messages: readonly unknown[]): readonly Message[] =>
  messages.map((message) => {
    const { role, content } = (isObject(message) ? message : {}) as Partial<Message>;
    return { role: String(role), content: String(content) };
  });

function lineThatDiffers(recorded: readonly Message[], now: readonly Message[]): LineDifference | null {
  for (let index = 0; index < Math.max(recorded.length, now.length); index += 1) {
    const [was, is] = [recorded[index], now[index]];
    if (was && is && was.role === is.role && was.content === is.content) continue;
    const at = { message: index + 1, role: (is ?? was)!.role };
    if (was && is && was.role !== is.role) return { ...at, line: 1, recorded: `role ${was.role}`, now: `role ${is.role}` };
    const [before, after] = [was?.content.split('\n') ?? [], is?.content.split('\n') ?? []];
    const line = Array.from({ length: Math.max(before.length, after.length) }).findIndex((_, n) => before[n] !== after[n]);
    const [left, right] = [before[line] ?? null, after[line] ?? null];
    const [shown, shownNow] = left !== null && right !== null ? window(left, right) : [cut(left), cut(right)];
    return { ...at, line: line + 1, recorded: shown, now: shownNow };
  }
  return null;
}

/** Excerpts of two texts around their first difference. */
function window(recorded: string, now: string): readonly [string, string] {
  let same = 0;
  while (same < Math.min(recorded.length, now.length) && recorded[same] === now[same]) same += 1;
  const from = Math.max(0, same - shownBefore);
  const shown = (text: string): string => {
    const part = text.slice(from, from + shownAtMost);
    return `${from > 0 ? '…' : ''}${part}${from + shownAtMost < text.length ? '…' : ''}`;
  };
  return [shown(recorded), shown(now)];
}

const cut = (text: string | null): string | null => text && (text.length > shownAtMost ? `${text.slice(0, shownAtMost)}…` : text);
const textOf = (value: unknown): string => (value === undefined ? 'absent' : typeof value === 'string' ? value : canonicalJson(value));
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
