import type { PlannedTask, StrategyId, TaskInput, Template } from '@conclave/contracts';
import type { BornRun, Draft } from './state.js';

/** When a strategy has its result assessed: not at all, on the evidence before anything is written, or on a written draft. */
export type AssessmentMode = 'none' | 'evidence' | 'answer';

/**
 * What a strategy supplies to the engine. Everything else (rounds, barriers, budgets, guards, commands, audit) is shared.
 * Pure: same arguments, same result; no clock, no model, no bus.
 */
export interface Strategy {
  readonly id: StrategyId;
  /** Rounds the template allows, the first pass included. */
  maxRounds(template: Template): number;
  assessment(template: Template): AssessmentMode;
  readonly policy: { readonly stuckThreshold: number; readonly stallLimit: number };
  /** Context builder: what a planned task works on, rendered from memory. */
  taskInput(run: BornRun, task: PlannedTask): TaskInput;
  gapInput(run: BornRun, draft: Draft | null): TaskInput;
  /** `openGap` is null where nothing stays open. */
  synthesisInput(run: BornRun, openGap: string | null): TaskInput;
  /** Finalizer without a model call: an answer from the ledger that says why it stopped. Null when the ledger is empty. */
  ledgerAnswer(run: BornRun, reason: string): Draft | null;
  /** One line about a plan for history and progress. */
  planSummary(tasks: readonly PlannedTask[]): string;
  /** Findings of one round, bounded, for history. */
  findings(run: BornRun, epoch: number): string;
}
