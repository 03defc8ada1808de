import type { PlannedTask, TaskInputDraft, Template } from '@conclave/contracts';
import type { RunState, TaskState } from '@conclave/loop';

/** What a task of a capability is made from, when everything that it needs is settled. */
export interface TaskSource {
  readonly run: RunState;
  readonly template: Template;
  readonly task: TaskState;
  /** `metadata_filters` of the plan. */
  readonly filters: Readonly<Record<string, string>>;
}

/** Something that a plan may ask for beside experts, said once: prompts, plan reading, validation and task inputs follow from it. */
export interface CapabilityDeclaration {
  /** As plans name it; one word. */
  readonly name: string;
  /** Other names under which models write it: small letters and `_`. */
  readonly aliases?: readonly string[];
  /** What it is for and what it takes, as the planner reads it. */
  readonly forPlanner: string;
  /** What stands below that line, such as the tools there are. */
  listed?(template: Pick<Template, 'tools' | 'collections'>): readonly string[];
  /** Where the words to search come from: what the plan gives, or its instruction where it gives none. */
  readonly query?: 'given' | 'instruction';
  /** It takes `mcp_tool` and `mcp_args` of the plan. */
  readonly takesArguments?: boolean;
  /** Name of the operation or tool, out of what the plan says. */
  tool?(said: { readonly tool: string | null; readonly named: string }, template: Template): string | null;
  /** What is wrong with a task of a plan, as sentences for the planner; empty for one that may run. */
  faults?(task: PlannedTask, template: Template): readonly string[];
  /** What the worker gets. */
  input(source: TaskSource): TaskInputDraft;
  /** Class whose workers serve it unless an operator says otherwise. */
  readonly taskClass: string;
}

/** Helps writing one: checks nothing, names the type. */
export const defineCapability = (declaration: CapabilityDeclaration): CapabilityDeclaration => declaration;
