import { bounded, counted, duration, local, shownText, type AskedTasks } from './define-fact.js';
import { attemptsPerCall, type Allowance, type ResultReady, type TaskOutput } from './events/task.js';
import { refusals, type RefusedWhy, type RequestedTask } from './fact-values.js';
import { listed, saying } from './fact-wording.js';
import { childRunId, parseTaskId } from './ids.js';

interface Placed {
  readonly ref: string;
  readonly capability: string;
}

const isJudge = (capability: string): boolean => capability.startsWith('judge.');

/** The place of a task and its capability, which the id of a judge contains, and the run that it started. */
function taskNamed(ref: string, capability: string): string {
  if (isJudge(capability)) return `Task ${local(ref)}`;
  return `Task ${local(ref)} (${capability === 'run' && parseTaskId(ref) ? `run ${childRunId(ref)}` : capability})`;
}

/** The query of a search, or the tool of a task with its arguments. */
function doing({ query, tool, args, task }: RequestedTask['spec']): string {
  // An empty list of a search means everywhere; a tool gets it as it is.
  const told = Object.entries(args ?? {}).filter(([, value]) => tool || !Array.isArray(value) || value.length > 0);
  const given = told.length > 0 ? JSON.stringify(Object.fromEntries(told)) : '';
  // The tasks of some strategies are named after the tool.
  const called = [task.includes(tool ?? '') ? '' : (tool ?? ''), given].filter((part) => part !== '').join(' ');
  const said = called || (query && !task.includes(query) ? `search "${query}"` : '');
  return said === '' ? '' : ` (${bounded(said, shownText)})`;
}

/** What a task is to do: its instruction, with its call or search. */
const asked = ({ spec }: RequestedTask): string => `${bounded(spec.task.replace(/\s+/g, ' '), shownText)}${doing(spec)}`;

export function taskAdmitted({ ref, epoch, wish }: { readonly ref: string; readonly epoch: number; readonly wish: RequestedTask }): string {
  const { spec, again, hints, tier, origin } = wish;
  const needs = spec.needs.map((need) => (need.includes('/') ? local(need) : `${epoch}/${need}`));
  const after = needs.length > 0 ? `, after ${needs.join(' and ')}` : '';
  const unsure = again === undefined ? '' : `, because the answer of ${local(again)} was unsure`;
  const beside = tier === 'always' && origin !== undefined ? ` beside ${epoch}/${origin}, because its model always answers too` : '';
  return `${taskNamed(ref, spec.capability)} was added${beside}${after}${unsure}: ${asked(wish)}${hints ? ` Hint: ${bounded(hints, shownText)}` : ''}`;
}

export function taskOpened({
  ref,
  capability,
  allowance: { calls },
  composes,
}: Placed & { readonly allowance: Allowance; readonly composes: boolean }): string {
  const limit = calls > 0 ? `, with at most ${counted(calls, 'model call')}` : '';
  const isAnswer = composes && !isJudge(capability);
  return `${taskNamed(ref, capability)} was sent to the workers${limit}${isAnswer ? '; its text is the answer' : ''}.`;
}

/** The task and what it was asked, if the facts before said it: whoever reads of a failure has to see of what. */
const failing = (ref: string, capability: string, tasks: AskedTasks): string => {
  const wish = tasks.get(ref);
  return `${taskNamed(ref, capability)}${wish ? `, asked for "${asked(wish)}",` : ''}`;
};

export const taskRefused = ({ ref, capability, why }: Placed & { readonly why: RefusedWhy }, tasks: AskedTasks): string =>
  `${failing(ref, capability, tasks)} was not run: ${refusals[why]}`;

/**
 * How many calls were made, and the model that answered. It got the last one: those before it were lost, unusable, or to models that come
 * before it in the order of the task.
 */
function asking({ model, usage: { calls } }: ResultReady['data'], wish: RequestedTask | undefined): string {
  const made = counted(calls, 'model call');
  if (model === null) return made;
  const before = wish?.models.slice(0, Math.max(0, wish.models.indexOf(model))) ?? [];
  return `${made}${calls > 1 ? ', the last' : ''} to ${model}${before.length > 0 ? ` in place of ${before.join(' and ')}` : ''}`;
}

interface SettledTask extends Placed {
  readonly facts: number;
  readonly text: string;
  readonly result: ResultReady['data'];
}
export function taskSettled({ ref, capability, facts, text, result }: SettledTask, tasks: AskedTasks): string {
  const { status, durationMs, failure, output, confidence, usage } = result;
  const isOk = status === 'ok';
  const brought = [
    ...(facts > 0 ? [counted(facts, 'new fact')] : []),
    ...(confidence === null ? [] : [`confidence ${confidence}`]),
    ...(usage.calls > 0 ? [asking(result, tasks.get(ref))] : []),
  ];
  const ended = isOk ? `${taskNamed(ref, capability)} succeeded` : `${failing(ref, capability, tasks)} ended as ${status}`;
  const told = failure?.message ?? (isJudge(capability) && output ? verdict(output) : isEmpty(output) ? 'it found nothing' : text);
  // Of an attempt that a process did not live to end, only its number is known.
  const again = result.attempt % attemptsPerCall > 1 ? ', begun again after an interruption' : '';
  return `${ended} after ${duration(durationMs)}${again}${brought.length > 0 ? `${again === '' ? '' : ','} with ${brought.join(', ')}` : ''}${saying(told)}`;
}

const isEmpty = (output: TaskOutput | null): boolean => output?.kind === 'evidence' && output.facts.length === 0;

/** What a judge says. Of an answer only the length: it may still be reviewed, and the end of the run has it. */
function verdict(output: TaskOutput): string {
  switch (output.kind) {
    case 'assessment': {
      const { parsed, verdict: said, gap, nextFocus } = output.assessment;
      if (!parsed) return 'its reply held no verdict that could be read';
      return said === 'complete' ? 'nothing is missing' : `missing: ${gap}${nextFocus && nextFocus !== gap ? `; next: ${nextFocus}` : ''}`;
    }
    case 'hints':
      return listed(byPlace(output.hints)) || 'no hint';
    case 'scores':
      return output.scores.map(({ taskId, before, after }) => `${local(taskId)}: ${before} -> ${after}`).join(', ') || 'no score';
    case 'critique':
      if (output.verdict === 'unparsable') return 'its reply held no verdict that could be read';
      return `${output.verdict}${output.reasons.length > 0 ? `: ${output.reasons.join('; ')}` : ''}`;
    case 'values':
      return listed(output.values);
    case 'evidence':
      return output.facts.map((fact) => fact.text).join('; ');
    case 'synthesis': {
      const doubtful = output.unsupported?.length ?? 0;
      return `an answer of ${counted(output.text.length, 'character')}${output.cutShort ? ', cut short' : ''}${doubtful > 0 ? `, ${counted(doubtful, 'sentence')} not supported by the source` : ''}`;
    }
    default:
      return output.text;
  }
}

const byPlace = (hints: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(hints).map(([task, hint]) => [local(task), hint]));
