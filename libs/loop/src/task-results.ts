import { addUsage, noUsage, refusals, type FactOf, type ResultReady, type Usage } from '@conclave/contracts';
import type { TaskResult, TaskState } from './state.js';

/** The result of a task that was not dispatched. */
export const refusedResult = ({ why }: FactOf<'TaskRefused'>): TaskResult => ({
  ...nothing,
  status: why === 'budget' ? 'error' : why === 'cancelled' ? 'cancelled' : 'repeated',
  text: why === 'budget' || why === 'cancelled' ? '' : refusals[why],
  failure: why === 'budget' ? { code: 'ALLOWANCE_EXHAUSTED', message: refusals.budget, retriable: false } : null,
});

/** A result with nothing in it: the start of each member. */
export const nothing: TaskResult = {
  status: 'repeated',
  text: '',
  confidence: null,
  facts: 0,
  gaps: [],
  refer: [],
  model: null,
  failure: null,
  usage: noUsage,
  attempt: 0,
  durationMs: 0,
  cutShort: false,
  finding: null,
  notes: [],
  echoes: [],
};

/** What the engine adds to a requested task, before anything has happened to it. */
export const newTask = {
  status: 'blocked',
  allowance: null,
  startBy: 0,
  deadline: 0,
  started: false,
  result: null,
  accepted: true,
  superseded: false,
  unanswered: false,
  lateUsage: null,
} as const satisfies Partial<TaskState>;

const unreadVerdict = 'The reply held no verdict that could be read. It was taken as COMPLETE, and counts as not assessed.';

/** The stored result of a task, without the facts that it repeated. `facts`: how many new ones it brought. */
export const resultOf = (data: ResultReady['data'], facts: number): Omit<TaskResult, 'echoes'> => {
  const output = data.status === 'ok' ? data.output : null;
  const { confidence, gaps, refer, model, failure, usage, attempt, durationMs, status } = data;
  return {
    ...{ status, confidence, facts, gaps, refer, model, failure, usage, attempt, durationMs },
    text: textOf(data),
    cutShort: output?.kind === 'answer' && output.cutShort === true,
    finding: output?.kind === 'answer' ? output.finding : null,
    notes:
      output?.kind === 'evidence'
        ? (output.notes ?? [])
        : output?.kind === 'assessment' && !output.assessment.parsed
          ? [unreadVerdict]
          : [],
  };
};

/** Everything a task used, including what was reported after its outcome. */
export const usageOf = (task: TaskState): Usage => addUsage(task.result?.usage ?? noUsage, task.lateUsage ?? noUsage);

/** The text of a result, for people. */
export function textOf({ status, output }: ResultReady['data']): string {
  if (status !== 'ok' || output === null) return '';
  switch (output.kind) {
    case 'answer':
    case 'synthesis':
    case 'thinking':
    case 'run':
      return output.text;
    case 'evidence':
      return output.facts.map((fact) => fact.text).join('\n');
    case 'assessment':
      return output.assessment.gap;
    case 'critique':
      return output.reasons.join('; ');
    case 'hints':
      return Object.values(output.hints).join('\n');
    case 'values':
      return JSON.stringify(output.values);
    case 'scores':
      return output.scores.map(({ before, after }) => `${before} -> ${after}`).join('; ');
  }
}
