import type { PlannedTask, ToolOffer } from '@conclave/contracts';
import { canonicalJson, type Action } from '@conclave/loop';
import { foldedName } from './folded-name.js';
import { actionOf } from './plan-rules.js';
import { isObject } from './replies/names.js';

/**
 * A call's action. Calls of a tool that may change something are the same if they differ only in spelling: they would be repaired to the
 * same arguments, and the change would be made twice.
 */
export function callAction(task: PlannedTask, tools: readonly ToolOffer[]): Action {
  const action = actionOf(task, []);
  if (tools.find(({ name }) => name === task.tool)?.repeatable === true) return action;
  const args = unwrapped(task.args ?? {});
  return { ...action, argument: `${task.tool ?? ''} ${canonicalJson(sense(args, 0))}`, once: true };
}

/** The single values of a call's arguments as texts, in order, wherever they are: those of `{"roomId": "5", "days": ["Mon"]}` are `5` and `Mon`. */
export const callValues = (args: Readonly<Record<string, unknown>>): readonly string[] => leavesOf(sense(unwrapped(args), 0));

function leavesOf(meant: unknown): readonly string[] {
  if (typeof meant !== 'object') return [String(meant)];
  return meant === null ? [] : Object.values(meant).flatMap(leavesOf);
}

/** Names that models wrap all arguments in. */
const wrappers: ReadonlySet<string> = new Set(['args', 'arguments', 'input', 'parameters', 'params', 'kwargs']);

function unwrapped(args: Readonly<Record<string, unknown>>): unknown {
  const [only, ...others] = Object.entries(args);
  if (!only || others.length > 0 || !wrappers.has(only[0])) return args;
  const inner = read(only[1]);
  return isObject(inner) ? inner : args;
}

const deepest = 12;

/** A value as a tool would understand it, however it is spelled: `{"roomId": "5", "days": ["Mon"], "note": null}` is `{"roomid": "5", "days": "Mon"}`. */
function sense(value: unknown, depth: number): unknown {
  const meant = read(value);
  if (typeof meant === 'string') return meant.trim();
  if (typeof meant !== 'object' || meant === null || depth >= deepest) return meant === null ? null : String(meant);
  if (Array.isArray(meant)) return meant.length === 1 ? sense(meant[0], depth + 1) : meant.map((item) => sense(item, depth + 1));
  const members = Object.entries(meant).filter(([, member]) => member !== null && member !== undefined);
  const folded = members.map(([name]) => foldedName(name));
  const areApart = new Set(folded).size === folded.length;
  return Object.fromEntries(members.map(([name, member], index) => [areApart ? folded[index]! : name, sense(member, depth + 1)]));
}

/** A list or object that is written as text, and nothing else: two texts that only begin alike are two values. */
function read(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    // It is a text.
    return value;
  }
}
