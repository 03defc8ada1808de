import { Failure, type Complexity, type PlannedTask, type TaskInputDraft, type Template } from '@conclave/contracts';
import type { ExtensionCapability } from '../extension/describe-capability.js';
import { planFaults } from '../plan-rules.js';
import { collections } from './collections.js';
import type { CapabilityDeclaration, TaskSource } from './declaration.js';
import { graph } from './graph.js';
import { math } from './math.js';
import { mcp } from './mcp.js';
import { research } from './research.js';

/** Capabilities shipped with the product; those of extensions follow. */
const shipped: readonly CapabilityDeclaration[] = [research, math, mcp, graph, collections];
const added: ExtensionCapability[] = [];

/** All declared capabilities. */
export const declaredCapabilities = (): readonly CapabilityDeclaration[] => [...shipped, ...added.map(({ declaration }) => declaration)];

/** Returns undefined for an undeclared capability. */
export const capabilityOf = (name: string): CapabilityDeclaration | undefined =>
  declaredCapabilities().find((declared) => declared.name === name);

/** The capability that a plan means by a name, given in lower case with `_`. */
export const capabilityNamed = (plain: string): CapabilityDeclaration | undefined =>
  declaredCapabilities().find(({ name, aliases = [] }) => name === plain || aliases.includes(plain));

/** Registers a capability of an extension. Throws CONFIGURATION_INVALID if its name is taken. */
export function addCapability(capability: ExtensionCapability): void {
  const { declaration } = capability;
  if (capabilityNamed(declaration.name) || declaration.name === 'expert' || declaration.name === 'judge')
    throw new Failure('CONFIGURATION_INVALID', `The capability "${declaration.name}" already exists; give it another name.`);
  added.push(capability);
}

/** Capabilities of extensions with their implementations. */
export const addedCapabilities = (): readonly ExtensionCapability[] => added;

/** Input of a task. A capability that is no longer declared is treated as a search. */
export const inputOfTask = (source: TaskSource): TaskInputDraft => (capabilityOf(source.task.spec.capability) ?? research).input(source);

/** All faults of a plan, as sentences a model can act on; empty for a valid plan. */
export const faultsOfPlan = (tasks: readonly PlannedTask[], template: Template, complexity: Complexity = 'moderate'): readonly string[] =>
  planFaults(tasks, template, complexity, (task) => capabilityOf(task.capability)?.faults?.(task, template) ?? []);
