import type { Fork, RunFact, RequestedTask } from '@conclave/contracts';
import { ranMs } from './budget.js';
import { foldStep } from './fold-step.js';
import { restoredFacts } from './recorded-facts.js';
import type { RecordedStep } from './recorded-step.js';
import type { RunState } from './state.js';
import type { Strategies } from './view.js';

export interface ForkOptions {
  /** Id of the run that the new run continues. */
  readonly of: string;
  /** Id of the new run. */
  readonly runId: string;
  readonly strategies: Strategies;
  /** Models of a task that has not ended yet, instead of those it was admitted with. */
  readonly modelsOf: (wish: RequestedTask) => readonly string[];
}

/**
 * The start of a new run that continues another run after the last of these steps, which begin with step 1 and have no gaps. Tasks that
 * were open then count as not dispatched, and the model choices of the recorded plans are removed, so that both follow from the template of
 * the new run. Null if the run had ended by that step. Throws if this version does not know a recorded fact.
 */
export function forkAfter(steps: readonly RecordedStep[], { of, runId, strategies, modelsOf }: ForkOptions): Fork | null {
  const run = steps.reduce<RunState | null>((state, recorded) => foldStep(of, state, recorded, strategies), null)!;
  if (run.endedAt !== null) return null;
  const all = steps.flatMap((recorded) => restoredFacts(recorded));
  const isOpen = (ref: string): boolean => run.tasks[ref]!.status !== 'settled';
  const awaited = run.awaiting ? all.findLastIndex((fact) => fact.kind === 'PlanAwaited') : -1;
  const asked = run.question ? all.findLastIndex((fact) => fact.kind === 'QuestionAsked') : -1;
  const chosen = all.findIndex(({ kind }) => kind === 'StrategyChosen');
  const facts = all.flatMap((fact, index): readonly RunFact[] => {
    // The new run records its own beginning.
    if (fact.kind === 'RunStarted' || index === chosen || index === awaited || index === asked) return [];
    switch (fact.kind) {
      case 'TaskOpened':
      case 'TaskStarted':
        return isOpen(fact.ref) ? [] : [fact];
      case 'TaskAdmitted':
        return isOpen(fact.ref) && fact.wish.models.length > 0
          ? [{ ...fact, wish: { ...fact.wish, models: [...modelsOf(fact.wish)] } }]
          : [fact];
      case 'PlanTaken':
        return [{ ...fact, plan: { ...fact.plan, choices: {} } }];
      default:
        return [fact];
    }
  });
  const again = [awaited, asked].filter((index) => index >= 0).map((index) => all[index]!);
  const renamed = <T>(value: T): T => withId(value, of, runId) as T;
  return { of, step: steps.at(-1)!.version, ranMs: ranMs(run, run.last), facts: renamed(facts), again: renamed(again) };
}

/** The value with `to` in place of `from` in every key and text that is the id of that run, or of a part of it. */
function withId(value: unknown, from: string, to: string): unknown {
  const rename = (text: string): string => (text === from || text.startsWith(`${from}/`) ? to + text.slice(from.length) : text);
  if (typeof value === 'string') return rename(value);
  if (Array.isArray(value)) return value.map((one) => withId(one, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [rename(key), withId(one, from, to)]));
}
