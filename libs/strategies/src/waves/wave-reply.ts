import { LocalTaskId, type PlannedTask, type Template } from '@conclave/contracts';
import type { PlanSaid } from '../asks/asked-judge.js';
import type { ParsedReply } from '../asks/ask.js';
import { kindOf } from '../extension/json-values.js';
import { isEcho } from '../prompts/echoes.js';
import { bounded, oneLine } from '../prompts/quoting.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject, toolOf, type Loose } from '../replies/names.js';
import { callAction } from '../call-action.js';
import { waveFaults, type KnownCall, type WaveAsked } from './wave-plan.js';

const listed: Readonly<Record<string, 'continue' | 'done'>> = {
  continue: 'continue',
  done: 'done',
  // Variants that models use.
  complete: 'done',
  completed: 'done',
  finished: 'done',
};

/** Reads the planner's reply as the calls of a wave, or its faults as sentences for the model. */
export function readWave(reply: string, template: Template, { calls, wave }: Pick<WaveAsked, 'calls' | 'wave'>): ParsedReply<PlanSaid> {
  const said = jsonIn(reply);
  if (said === undefined) return { faults: ['The reply contains no JSON. Reply with one JSON object only.'] };
  const value = planOf(said);
  if (!isObject(value)) return { faults: ['The reply is not one JSON object with "status", "action" and "tools".'] };
  const given = callsIn(value) ?? [];
  const entries: readonly unknown[] = Array.isArray(given) ? given : isCall(given) ? [given] : [];
  const status = statusOf(value['status'], entries);
  const faults: string[] = [];
  if (status === undefined) faults.push('"status" must be "continue" or "done".');
  if (!Array.isArray(given) && entries.length === 0) faults.push('"tools" must be a list of calls, empty where nothing is to be called.');
  const tasks = entries.flatMap((entry, index) => {
    const task = callOf(entry, template, index, wave);
    if (typeof task !== 'string' && LocalTaskId.safeParse(task.id).success) return [task];
    faults.push(typeof task === 'string' ? task : `The id "${task.id}" is not valid. Use up to 32 letters, digits, "_", "." and "-".`);
    return [];
  });
  faults.push(...waveFaults(tasks, new Set(calls.map(({ id }) => id))));
  if (faults.length > 0) return { faults };
  const content = {
    status: status!,
    action: textOf(value['action']),
    slots: isObject(value['slots']) ? withoutEchoes(value['slots']) : {},
    reasoning: textOf(value['reasoning']),
  };
  // Weak models plan the answered calls again until the last wave instead of saying that they are done. A wave without calls ends the waves.
  if (tasks.length > 0 && areAnswered(tasks, calls, template))
    return { output: { tasks: [], content: { ...content, answered: tasks.length } } };
  return { output: { tasks, content } };
}

/** Whether every call was answered in an earlier wave. */
function areAnswered(tasks: readonly PlannedTask[], calls: readonly KnownCall[], { tools = [] }: Template): boolean {
  const key = (task: PlannedTask): string => callAction(task, tools).argument;
  const answered = new Set(calls.flatMap((call) => (call.status === 'ok' ? [key(taskOf({ ...call, needs: [] }))] : [])));
  return tasks.every((task) => answered.has(key(task)));
}

const callsIn = (value: Loose): unknown => value['tools'] ?? value['tool_calls'] ?? value['calls'];

/** A reply that says nothing but calls wants to see their results. */
const statusOf = (said: unknown, entries: readonly unknown[]): 'continue' | 'done' | undefined => {
  if (said === undefined || said === null) return entries.length > 0 ? 'continue' : undefined;
  return typeof said === 'string' ? listed[said.trim().toLowerCase()] : undefined;
};

/** The plan of a reply: models wrap it in an object, or write only its calls, or a single one. */
function planOf(said: unknown): unknown {
  if (Array.isArray(said)) {
    const [only] = said as unknown[];
    if (said.length === 1 && isObject(only) && !isCall(only)) return only;
    return said.length > 0 && said.every(isCall) ? { tools: said } : said;
  }
  if (!isObject(said) || 'status' in said || callsIn(said) !== undefined) return said;
  if (isCall(said)) return { tools: [said] };
  const [only, ...others] = Object.values(said);
  return others.length === 0 && isObject(only) && callsIn(only) !== undefined ? only : said;
}

/** The members of a call by which models name its tool and its arguments; OpenAI nests them in `function`. */
function membersOf(entry: Loose): { readonly named: unknown; readonly given: unknown } {
  const inner = isObject(entry['function']) ? entry['function'] : entry;
  return {
    named: inner['tool'] ?? inner['name'] ?? inner['tool_name'] ?? (typeof inner['function'] === 'string' ? inner['function'] : undefined),
    given: inner['args'] ?? inner['arguments'] ?? inner['parameters'] ?? inner['input'] ?? {},
  };
}

const isCall = (entry: unknown): entry is Loose => isObject(entry) && typeof membersOf(entry).named === 'string';

/** Weak models copy the words that stand for a value in the format. */
const textOf = (value: unknown): string => (typeof value === 'string' && !isEcho(value) ? value.trim() : '');
const withoutEchoes = (values: Loose): Loose =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value !== 'string' || !isEcho(value)));

/** The call of an entry, or what is wrong with it as a sentence for the model. */
function callOf(entry: unknown, template: Template, index: number, wave: number): PlannedTask | string {
  const call = `call ${index + 1}`;
  if (!isObject(entry)) return `Call ${index + 1} must be an object with "id", "tool" and "args", not ${kindOf(entry)}.`;
  const { named, given } = membersOf(entry);
  // A call without an id must not get that of an earlier wave.
  const id = entry['id'] ?? `${wave > 1 ? `wave${wave}.` : ''}w${index + 1}`;
  const args = typeof given === 'string' ? jsonIn(given) : given;
  const needs = entry['needs'] ?? [];
  if (typeof named !== 'string' || named.trim() === '') return `Call ${index + 1} has no "tool". Name the tool that it calls.`;
  if (typeof id !== 'string' && typeof id !== 'number') return `The "id" of ${call} must be a text, not ${kindOf(id)}.`;
  if (!isObject(args))
    return `The "args" of ${call} (${bounded(oneLine(named), 100)}) must be an object such as {"name": "value"}, not ${kindOf(args ?? given)}.`;
  if (!Array.isArray(needs)) return `The "needs" of ${call} must be a list of ids, not ${kindOf(needs)}.`;
  return taskOf({ id: String(id).trim(), tool: toolOf(named.trim(), template)!, args, needs: needs.map(String) });
}

const taskOf = ({ id, tool, args, needs }: Pick<KnownCall, 'id' | 'tool' | 'args'> & Pick<PlannedTask, 'needs'>): PlannedTask => ({
  ...{ id, capability: 'mcp', task: `Call ${tool}`, query: null, needs, tool, args, metadata_filters: null },
});
