import type { RunView } from '@conclave/contracts';
import type { LiveRun } from '../../run/run-fold.js';

export interface Spent {
  readonly calls: number;
  readonly tokens: number;
  readonly cost: number;
}

const nothing: Spent = { calls: 0, tokens: 0, cost: 0 };

/** Usage of the plans and tasks that had ended by then. Usage that belongs to neither counts when the run has ended. */
export function spentBy(run: LiveRun, record: RunView): Spent {
  const { total, items } = record.usage;
  if (run.end) return { calls: total.calls, tokens: total.prompt + total.completion, cost: total.cost };
  const planned = new Set(run.rounds.filter(({ plannedBy }) => plannedBy !== null).map(({ epoch }) => `${record.id}/${epoch}/plan`));
  return items
    .filter(({ owner }) => planned.has(owner) || (run.tasks.get(owner)?.settledAt ?? null) !== null)
    .reduce(
      ({ calls, tokens, cost }, { usage }) => ({
        calls: calls + usage.calls,
        tokens: tokens + usage.prompt + usage.completion,
        cost: cost + usage.cost,
      }),
      nothing,
    );
}
