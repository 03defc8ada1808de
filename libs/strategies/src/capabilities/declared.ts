import { Failure, type Complexity, type PlannedTask, type TaskInputDraft, type Template } from '@conclave/contracts';
import { planFaults } from '@conclave/loop';
import type { ExtensionCapability } from '../extension/describe-capability.js';
import { collections } from './collections.js';
import type { CapabilityDeclaration, TaskSource } from './declaration.js';
import { graph } from './graph.js';
import { math } from './math.js';
import { mcp } from './mcp.js';
import { research } from './research.js';

/** Capabilities that come with the product. The list is the registry; what an extension adds stands behind it. */
const shipped: readonly CapabilityDeclaration[] = [research, math, mcp, graph, collections];
const added: ExtensionCapability[] = [];

/** Capabilities there are, by name and by the names that models use. */
export const declaredCapabilities = (): readonly CapabilityDeclaration[] => [...shipped, ...added.map(({ declaration }) => declaration)];

/** Undefined for one that nobody has declared. */
export const capabilityOf = (name: string): CapabilityDeclaration | undefined =>
  declaredCapabilities().find((declared) => declared.name === name);

/** The capability that a plan means by a name, which stands in small letters with `_`. */
export const capabilityNamed = (plain: string): CapabilityDeclaration | undefined =>
  declaredCapabilities().find(({ name, aliases = [] }) => name === plain || aliases.includes(plain));

/** Takes a capability of an extension in. Throws Failure CONFIGURATION_INVALID where its name is taken. */
export function addCapability(capability: ExtensionCapability): void {
  const { declaration } = capability;
  if (capabilityNamed(declaration.name) || declaration.name === 'expert' || declaration.name === 'judge')
    throw new Failure('CONFIGURATION_INVALID', `The capability "${declaration.name}" is there already; give it another name.`);
  added.push(capability);
}

/** Capabilities of extensions, with how they are done. */
export const addedCapabilities = (): readonly ExtensionCapability[] => added;

/** Input of a task of a capability. One that nobody has declared any more is searched for, as it always was. */
export const inputOfTask = (source: TaskSource): TaskInputDraft => (capabilityOf(source.task.spec.capability) ?? research).input(source);

/** Everything that is wrong with a plan, as sentences a model can act on; empty for a plan that may run. */
export const faultsOfPlan = (tasks: readonly PlannedTask[], template: Template, complexity: Complexity = 'moderate'): readonly string[] =>
  planFaults(tasks, template, complexity, (task) => capabilityOf(task.capability)?.faults?.(task, template) ?? []);
