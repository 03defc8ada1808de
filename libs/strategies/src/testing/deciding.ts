import type { Draft, PlannedTask, Reading, RequestedTask } from '@conclave/contracts';
import type { Limits, Strategy, View } from '@conclave/loop';
import { actionOf } from '../plan-rules.js';
import { research } from './scenario.js';

const draft = ({ run }: View, text: string): Draft => ({ text, sources: [], insight: null, cutShort: false, epoch: run.epoch });
const requested = (id: string, query: string): RequestedTask => {
  const spec = research(id, query);
  return { spec, action: actionOf(spec, [spec]), models: [], learn: 'settled', stream: 'held' };
};

/** A task whose id begins with `free` is never a repeat. */
const planned = ({ id, query, needs }: PlannedTask): RequestedTask => {
  const plain = requested(id, query ?? id);
  return { ...plain, spec: { ...plain.spec, needs }, ...(id.startsWith('free') ? { action: null } : {}) };
};

/** A strategy that reads its state from a list, one reading for each decision; after the last one it is done. */
export const deciding = (readings: readonly Reading[], limits: Partial<Limits> = {}): Strategy => ({
  id: 'deciding',
  commands: ['cancel', 'pause', 'resume', 'answer'],
  limits: () => ({ rounds: 9, adjusts: 3, stuck: 3, stall: 2, end: 'limit_reached', asks: true, ...limits }),
  planner: { ask: () => ({}), faults: () => [] },
  judges: {},
  initial: () => null,
  task: (_view, _ref, { spec }) => ({ kind: 'research', task: spec.task, query: spec.query ?? '', limit: 1 }),
  onPlan: (_view, plan) => [{ do: 'dispatch', tasks: plan.tasks.map(planned) }],
  next: (view) => {
    const { run } = view;
    if (run.ending) return [{ do: 'say', draft: draft(view, `said after ${run.rounds}`) }];
    if (run.plan === null) return [{ do: 'plan' }];
    return [{ do: 'decide', reading: readings[run.decisions.length] ?? { by: 'assessment', sufficient: true } }];
  },
  onDecided: ({ run }, then) => {
    if (then === 'continue') return [{ do: 'dispatch', tasks: [requested(`more.${run.rounds}`, `step ${run.rounds} of what is held`)] }];
    return [then === 'ask_user' ? { do: 'ask', question: 'Which one?' } : { do: 'plan' }];
  },
  onCommand: () => [{ do: 'dispatch', tasks: [requested('answered', 'with the answer')] }],
  lastAnswer: (view, reason) => draft(view, reason),
  summary: () => ({ planSummary: '', findings: '' }),
  report: () => ({ complexity: 'moderate', review: 'none' }),
});
