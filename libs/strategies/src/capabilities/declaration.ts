import type { PlannedTask, TaskInputDraft, Template } from '@conclave/contracts';
import type { RunState, TaskState } from '@conclave/loop';

/** What a task's input is made from, once everything it needs has a result. */
export interface TaskSource {
  readonly run: RunState;
  readonly template: Template;
  readonly task: TaskState;
  /** `metadata_filters` of the plan. */
  readonly filters: Readonly<Record<string, string>>;
}

/** A capability besides the experts, declared once: prompts, plan reading, validation and task inputs are derived from it. */
export interface CapabilityDeclaration {
  /** Name in plans; one word. */
  readonly name: string;
  /** Version of the extension module that contains it; absent for capabilities of the product. */
  readonly version?: string;
  /** Other names that models use: lower case and `_`. */
  readonly aliases?: readonly string[];
  /** Description for the planner: purpose and arguments. */
  readonly forPlanner: string;
  /** Lines below the description, such as the available tools. */
  listed?(template: Pick<Template, 'tools' | 'collections'>): readonly string[];
  /** Source of the search words: only the plan's query, or its instruction if it has none. */
  readonly query?: 'given' | 'instruction';
  /** Takes `mcp_tool` and `mcp_args` of the plan. */
  readonly takesArguments?: boolean;
  /** Name of the operation or tool that the plan means. */
  tool?(said: { readonly tool: string | null; readonly named: string }, template: Template): string | null;
  /** Faults of a task, as sentences for the planner; empty for a valid one. */
  faults?(task: PlannedTask, template: Pick<Template, 'tools' | 'collections'>): readonly string[];
  /** Input for the worker. */
  input(source: TaskSource): TaskInputDraft;
  /** Default task class; an operator may choose another. */
  readonly taskClass: string;
}

/** Types a declaration; checks nothing at run time. */
export const defineCapability = (declaration: CapabilityDeclaration): CapabilityDeclaration => declaration;
