import { failures, type TaskInput, type ToolOffer } from '@conclave/contracts';
import type { TaskState } from '@conclave/loop';
import { callAction, callValues } from './call-action.js';
import { callText } from './prompts/call-text.js';
import { isWithin } from './replies/names.js';

/** A call of a tool, and when it was made: calls of the same number were made together. */
export interface MadeCall {
  readonly task: TaskState;
  readonly at: number;
}

/**
 * Failed calls of tools that may change something, or that do not exist: such a name may stand for a change. Those that a call at the same
 * time or later made up for are left out. What is not in this list and was called has been done.
 */
export function undoneCalls(
  calls: readonly MadeCall[],
  tools: readonly ToolOffer[],
): { readonly undone?: NonNullable<Extract<TaskInput, { kind: 'synthesis' }>['undone']> } {
  const changing = new Set(tools.flatMap(({ name, readOnly, repeatable }) => ((readOnly ?? repeatable ?? false) ? [] : [name])));
  const made = calls.filter(({ task }) => task.result?.status === 'ok');
  const failed = new Map<string, MadeCall>();
  for (const call of calls) {
    const { spec, result } = call.task;
    // A repeat was not called.
    if (result?.failure && result.status !== 'repeated' && (changing.has(spec.tool ?? '') || isUnknown(call.task)))
      failed.set(callAction(spec, tools).argument, call);
  }
  const spent = new Set<MadeCall>();
  const undone = [...failed.values()].flatMap(({ task, at }) => {
    const { spec, result } = task;
    const remedy = made.find((call) => !spent.has(call) && call.at >= at && isRemedy(task, call.task, call.at === at));
    if (remedy) spent.add(remedy);
    if (remedy || made.some((call) => callAction(call.task.spec, tools).argument === callAction(spec, tools).argument)) return [];
    if (made.some((call) => changing.has(call.task.spec.tool ?? '') && isMadeAs(task, call.task))) return [];
    const { code, message, unsent } = result!.failure!;
    const text = callText(spec.args ?? {});
    return [
      {
        call: `${spec.tool}${text === '' ? '' : ` (${text})`}`,
        // How to write the call is for the planner alone.
        reason: code === 'TOOL_ARGUMENTS_INVALID' || code === 'TOOL_UNKNOWN' ? failures[code].message : message,
        ...(unsent ? { unsent } : {}),
      },
    ];
  });
  return undone.length === 0 ? {} : { undone };
}

/** A text that stands for a value, as in a template. */
const placeholder = /^(?:\{\{|\$\{|\$[A-Za-z_.]|<[^<>]{1,200}>$)/;

const isUnknown = ({ result }: TaskState): boolean => result?.failure?.code === 'TOOL_UNKNOWN';

/**
 * Whether a call repeats more than half of the values of a failed one: the same change, corrected. A change for someone else is another.
 * A call at the same time corrects nothing: it is the same change only with the same values. A tool that does not exist is corrected by
 * one whose name has all its words.
 */
function isRemedy(failed: TaskState, made: TaskState, isAtOnce: boolean): boolean {
  const [from, to] = [failed.spec.tool ?? '', made.spec.tool ?? ''];
  if (from !== to && !(isUnknown(failed) && isWithin(from, to))) return false;
  const { wanted, given, shared } = compared(failed, made);
  return isAtOnce ? shared === wanted && shared === given : wanted === 0 || shared * 2 > wanted;
}

/** Whether a call of a tool that does not exist names the values of a change that was made, and those alone. */
function isMadeAs(failed: TaskState, made: TaskState): boolean {
  const { wanted, given, shared } = compared(failed, made);
  return isUnknown(failed) && wanted > 1 && shared === wanted && shared === given;
}

function compared(failed: TaskState, made: TaskState): { readonly wanted: number; readonly given: number; readonly shared: number } {
  const wanted = callValues(failed.spec.args ?? {}).filter((value) => !placeholder.test(value));
  const given = callValues(made.spec.args ?? {});
  return { wanted: wanted.length, given: given.length, shared: wanted.filter((value) => given.includes(value)).length };
}
