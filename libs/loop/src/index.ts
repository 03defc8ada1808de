export type { BudgetLevel } from './budget.js';
export { runCapability } from './child-runs.js';
export { clientToolsRef } from './client-tools.js';
export { canonicalJson } from './canonical-json.js';
export { describeRun } from './describe-run.js';
export { overdueTasks } from './due.js';
export { type StepResult, type EngineInput, NotBegun, step } from './engine.js';
export { evolve, foldFacts } from './fold.js';
export { foldStep } from './fold-step.js';
export { forkAfter, type ForkOptions } from './forking.js';
export { firstPlanAsked, keptEntries } from './kept-answer.js';
export { actionKey, currentFacts, factIdentity, repeatOf } from './memory.js';
export {
  actionOf,
  capabilitiesOf,
  classOf,
  fallbackTasks,
  inOrderOfNeeds,
  isExpert,
  maxEvidenceTasks,
  maxExpertTasks,
  mostExperts,
  planFaults,
  dedupe,
} from './plan-rules.js';
export { recordedFacts, restoredFacts, toldFacts } from './recorded-facts.js';
export { type HashedStep, inputOf, type RecordedStep } from './recorded-step.js';
export { type Command, isJudge, judgeName, type RunState, statusOf, tasksOf, type TaskState } from './state.js';
export { StrategyFault } from './strategy-fault.js';
export type { Judge, Limits, Move, Strategy, Verdict, View } from './strategy.js';
export type { Strategies } from './view.js';
export { isNear, plainCharacters, textKey } from './wording.js';
export { decisionTable } from './table.js';
