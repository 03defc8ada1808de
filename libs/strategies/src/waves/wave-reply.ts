import { LocalTaskId, type PlannedTask, type Template } from '@conclave/contracts';
import type { PlanSaid } from '../asks/asked-judge.js';
import type { ParsedReply } from '../asks/ask.js';
import { kindOf } from '../extension/json-values.js';
import { actionOf } from '../plan-rules.js';
import { isEcho } from '../prompts/echoes.js';
import { bounded, oneLine } from '../prompts/quoting.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject, toolOf, type Loose } from '../replies/names.js';
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
export function readWave(reply: string, template: Template, { calls }: Pick<WaveAsked, 'calls'>): ParsedReply<PlanSaid> {
  const value = jsonIn(reply);
  if (value === undefined) return { faults: ['The reply contains no JSON. Reply with one JSON object only.'] };
  if (!isObject(value)) return { faults: ['The reply is not one JSON object with "status", "action" and "tools".'] };
  const said = typeof value['status'] === 'string' ? value['status'].trim().toLowerCase() : '';
  const status = listed[said];
  const given = value['tools'] ?? value['tool_calls'] ?? value['calls'] ?? [];
  const faults: string[] = [];
  if (status === undefined) faults.push('"status" must be "continue" or "done".');
  if (!Array.isArray(given)) faults.push('"tools" must be a list of calls, empty where nothing is to be called.');
  const entries: readonly unknown[] = Array.isArray(given) ? given : [];
  const tasks = entries.flatMap((entry, index) => {
    const task = callOf(entry, template, index);
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
  if (tasks.length > 0 && areAnswered(tasks, calls)) return { output: { tasks: [], content: { ...content, answered: tasks.length } } };
  return { output: { tasks, content } };
}

/** Whether every call was answered in an earlier wave. */
function areAnswered(tasks: readonly PlannedTask[], calls: readonly KnownCall[]): boolean {
  const answered = new Set(calls.flatMap((call) => (call.status === 'ok' ? [actionOf(taskOf({ ...call, needs: [] }), []).argument] : [])));
  return tasks.every((task) => answered.has(actionOf(task, []).argument));
}

/** Weak models copy the words that stand for a value in the format. */
const textOf = (value: unknown): string => (typeof value === 'string' && !isEcho(value) ? value.trim() : '');
const withoutEchoes = (values: Loose): Loose =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value !== 'string' || !isEcho(value)));

/** The call of an entry, or what is wrong with it as a sentence for the model. */
function callOf(entry: unknown, template: Template, index: number): PlannedTask | string {
  const call = `call ${index + 1}`;
  if (!isObject(entry)) return `Call ${index + 1} must be an object with "id", "tool" and "args", not ${kindOf(entry)}.`;
  const named = entry['tool'] ?? entry['name'];
  const id = entry['id'] ?? `w${index + 1}`;
  const given = entry['args'] ?? entry['arguments'] ?? {};
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
