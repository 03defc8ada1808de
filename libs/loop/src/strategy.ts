import type { CommandName, PlannedTask, StrategyId, TaskInputDraft, Template } from '@conclave/contracts';
import type { BornRun, Draft, TaskState } from './state.js';

/** When a strategy has its result assessed: not at all, on the evidence before anything is written, or on a written draft. */
export type AssessmentMode = 'none' | 'evidence' | 'answer';

/**
 * What a strategy supplies to the engine. Everything else (rounds, barriers, budgets, guards, commands, audit) is shared.
 * Pure: same arguments, same result; no clock, no model, no bus.
 */
export interface Strategy {
  readonly id: StrategyId;
  /** What its runs take in some state; everything else is refused before it reaches a run. `cancel` is among them. */
  readonly commands: readonly CommandName[];
  /** Rounds the template allows, the first pass included. */
  maxRounds(template: Template): number;
  assessment(template: Template): AssessmentMode;
  readonly policy: { readonly stuckThreshold: number; readonly stallLimit: number };
  /** Context builder: what a planned task works on, rendered from memory. */
  taskInput(run: BornRun, task: TaskState): TaskInputDraft;
  gapInput(run: BornRun, draft: Draft | null): TaskInputDraft;
  /** What the judge reads before it says how unsure experts may do better. */
  hintsInput(run: BornRun, unsure: readonly (readonly [string, TaskState])[]): TaskInputDraft;
  /** Answers of experts before and after they were asked again. */
  scoreInput(
    run: BornRun,
    pairs: readonly { readonly id: string; readonly before: TaskState; readonly after: TaskState }[],
  ): TaskInputDraft;
  thinkingInput(run: BornRun): TaskInputDraft;
  criticInput(run: BornRun, answer: Draft, categories: readonly string[]): TaskInputDraft;
  /** `openGap` is null where nothing stays open. */
  synthesisInput(run: BornRun, openGap: string | null): TaskInputDraft;
  /** Finalizer without a model call: an answer from the ledger that says why it stopped. Null when the ledger is empty. */
  ledgerAnswer(run: BornRun, reason: string): Draft | null;
  /** One line about a plan for history and progress. */
  planSummary(tasks: readonly PlannedTask[]): string;
  /** Findings of one round, bounded, for history. */
  findings(run: BornRun, epoch: number): string;
}
