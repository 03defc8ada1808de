import type { Event, RunFact, TaskInputDraft } from '@conclave/contracts';
import { evolve } from './fold.js';
import { cancelsOf, outputsOf } from './outputs.js';
import type { RunState } from './state.js';
import { StrategyFault } from './strategy-fault.js';
import type { Strategies } from './view.js';

/** A step in progress: each fact is folded as it is put. It exists only during one call of `step`, which stays a pure function. */
export class Turning {
  readonly facts: RunFact[] = [];
  readonly outputs: Event[] = [];
  readonly cancels: string[] = [];
  /** How often the strategy has returned moves. */
  moved = 0;
  /** Inputs of the tasks that this step opened, by id. */
  readonly inputs = new Map<string, TaskInputDraft>();

  constructor(
    private state: RunState | null,
    readonly runId: string,
    readonly now: number,
    readonly strategies: Strategies,
  ) {}

  get run(): RunState {
    return this.state!;
  }

  /** The error of a strategy that returned what is not allowed; `where` is its function. */
  fault(where: string, why: string): StrategyFault {
    return new StrategyFault(this.run.strategy, where, why);
  }

  put(fact: RunFact): void {
    this.recall(fact);
    this.outputs.push(...outputsOf(this, fact));
    this.cancels.push(...cancelsOf(this.run, fact));
  }

  /** Folds a fact of another run. It has no outputs here, because the other run has sent them. */
  recall(fact: RunFact): void {
    const next = evolve(this.state, fact, this.strategies);
    this.state = fact.kind === 'RunStarted' ? { ...next, runId: this.runId } : next;
    this.facts.push(fact);
  }
}
