import type { FactKind, FactOf, RunFact } from '@conclave/contracts';
import { begun } from './begun.js';
import type { Folds } from './fold/changes.js';
import { ofCommands } from './fold/commands.js';
import { ofPlans } from './fold/plans.js';
import { ofRounds } from './fold/rounds.js';
import { ofTasks } from './fold/tasks.js';
import { forked } from './fork-state.js';
import { isJudge, judgeName, type RunState } from './state.js';
import { setAside } from './stored-state.js';
import type { Verdict } from './strategy.js';
import { viewOf, type Strategies } from './view.js';

/** The state after a fact. Only facts change a state. */
export function evolve(run: RunState | null, fact: RunFact, strategies: Strategies): RunState {
  if (fact.kind === 'RunStarted') return begun(fact);
  if (run === null) throw new Error(`The first fact of a run is RunStarted, not ${fact.kind}.`);
  const next = folded(run, fact, strategies);
  if (fact.kind === 'StrategyChosen' || next.faulty) return next;
  const strategy = strategies(next.strategy);
  const view = viewOf(next, strategies, null);
  let own: unknown = strategy.evolve ? strategy.evolve(next.own, fact, view) : next.own;
  if (fact.kind === 'TaskSettled' || fact.kind === 'TaskRefused') {
    const task = next.tasks[fact.ref]!;
    const verdict = verdictOf(fact);
    // Verdicts of earlier epochs and of cancelled judges are ignored.
    const counts = isJudge(task) && task.epoch === next.epoch && verdict.why !== 'cancelled';
    if (counts) own = strategy.judges[judgeName(task.spec.capability)]!.take(own, verdict, { ...view, own }, fact.ref);
  }
  const kept = own === next.own ? next : { ...next, own };
  if (!strategy.wallTimeS) return kept;
  const wallS = strategy.wallTimeS({ ...view, own });
  return wallS === kept.wallS ? kept : { ...kept, wallS };
}

/** The state after recorded facts. */
export function foldFacts(run: RunState | null, facts: readonly RunFact[], runId: string, strategies: Strategies): RunState | null {
  return facts.reduce<RunState | null>((state, fact) => {
    const next = evolve(state, fact, strategies);
    return state === null ? { ...next, runId } : next;
  }, run);
}

function verdictOf(fact: FactOf<'TaskSettled' | 'TaskRefused'>): Verdict {
  if (fact.kind === 'TaskRefused') return { result: null, why: fact.why, failure: null };
  const { result } = fact;
  return result.status === 'ok' ? { result, why: null } : { result: null, why: result.status, failure: result.failure };
}

const unchanged = (run: RunState): RunState => run;

const folds: Folds<Exclude<FactKind, 'RunStarted' | 'StrategyChosen'>> = {
  ...ofPlans,
  ...ofTasks,
  ...ofRounds,
  ...ofCommands,
  RunForked: forked,
  StrategyFailed: (run) => ({ ...run, faulty: true }),
  StateSetAside: setAside,
  StepEvaluated: unchanged,
  MemoryReplaced: unchanged,
  MemoryCompressed: unchanged,
  Noted: unchanged,
};

function folded(run: RunState, fact: Exclude<RunFact, { kind: 'RunStarted' }>, strategies: Strategies): RunState {
  if (fact.kind !== 'StrategyChosen') return (folds[fact.kind] as (run: RunState, fact: RunFact) => RunState)(run, fact);
  const chosen = { ...run, strategy: fact.strategy, plan: null, own: null };
  return { ...chosen, own: strategies(fact.strategy).initial(viewOf(chosen, strategies, null)) };
}
