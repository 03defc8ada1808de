import { Failure } from '@conclave/contracts';
import type * as z from 'zod';
import { defineCapability, type CapabilityDeclaration } from '../capabilities/declaration.js';
import { faultsOf } from '../asks/json-form.js';
import { blame } from './blame.js';
import { callsOfModule } from './bounded.js';
import { madeAs } from './made.js';
import { unknownMembers } from './members.js';

/** Input of an extension's capability. */
export interface GivenTask {
  /** Instruction of the plan. */
  readonly task: string;
  /** Search words, if the plan has any. */
  readonly query: string | null;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What a capability may use while it works. */
export interface Working {
  /** Aborts when the task is cancelled or times out. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly tenant: string;
  /** Shows a line to those who watch the run: at most 50 lines of one call. */
  progress(text: string): void;
}

/** Result of a capability. A plain text is a fact whose source is the capability. */
export interface CapabilityResult {
  readonly facts: readonly (string | { readonly text: string; readonly title?: string; readonly url?: string | null })[];
  /** Notes for readers of the result. */
  readonly notes?: readonly string[];
}

export interface CapabilityDescription {
  readonly name: string;
  /** Description for the planner: purpose and arguments. */
  readonly forPlanner: string;
  /** Schema of a plan's `mcp_args`; faults are sent back to the planner. */
  readonly args?: z.ZodType<Record<string, unknown>>;
  readonly taskClass?: string;
  /** Whether a call that was begun but never finished may be repeated. Default false. */
  readonly repeatable?: boolean;
  perform(task: GivenTask, working: Working): Promise<CapabilityResult>;
}

/** A capability of an extension: its declaration and its implementation. */
export interface ExtensionCapability {
  readonly declaration: CapabilityDeclaration;
  readonly repeatable: boolean;
  readonly perform: CapabilityDescription['perform'];
}

/** Kinds of schemas that no object matches: with one of them, every call would be refused. */
const kindsWithoutObjects = [
  'string',
  'number',
  'bigint',
  'boolean',
  'date',
  'null',
  'undefined',
  'never',
  'enum',
  'literal',
  'array',
  'tuple',
];

function takesObjects(schema: unknown): boolean {
  const { safeParse, def } = (schema ?? {}) as { readonly safeParse?: unknown; readonly def?: { readonly type?: string } };
  return typeof safeParse === 'function' && !kindsWithoutObjects.includes(def?.type ?? '');
}

/** Throws CONFIGURATION_INVALID if something required is missing. */
export function describeCapability(description: CapabilityDescription): ExtensionCapability {
  const { name, forPlanner, args, perform, ...more } = description;
  if (typeof name !== 'string' || !/^[a-z][a-z0-9_]{0,39}$/.test(name))
    throw new Failure('CONFIGURATION_INVALID', `A capability needs a name of small letters, digits and "_", not ${JSON.stringify(name)}.`);
  if (typeof forPlanner !== 'string' || forPlanner.trim() === '')
    throw new Failure('CONFIGURATION_INVALID', `The capability "${name}" does not say in \`forPlanner\` what it is for.`);
  if (typeof perform !== 'function') throw new Failure('CONFIGURATION_INVALID', `The capability "${name}" has no function \`perform\`.`);
  if (/[\r\n]/.test(forPlanner))
    throw new Failure('CONFIGURATION_INVALID', `The capability "${name}" has more than one line in \`forPlanner\`.`);
  const faults = unknownMembers(description, ['name', 'forPlanner', 'args', 'perform', 'taskClass', 'repeatable']);
  if (args !== undefined && !takesObjects(args))
    faults.push('has `args` that are not a schema of `z` for objects, such as z.strictObject({ harbour: z.string() })');
  if (faults.length > 0) throw new Failure('CONFIGURATION_INVALID', `The capability "${name}" ${faults.join('; it ')}.`);
  const ours = callsOfModule();
  const what = `perform of the capability "${name}"`;
  const declaration = defineCapability({
    name,
    forPlanner,
    query: 'given',
    takesArguments: true,
    faults: ({ id, args: given }) => {
      if (!args) return [];
      const of = `Arguments of task "${id}":`;
      try {
        const read = ours.call(`args of the capability "${name}"`, () => args.safeParse(given ?? {}));
        return read.success ? [] : faultsOf(read.error).map((fault) => `${of} ${fault}`);
      } catch (error) {
        return [`${of} the schema of "${name}" failed: ${blame(error)}`];
      }
    },
    input: ({ task: { spec } }) => ({
      kind: 'values',
      values: { task: spec.task, query: spec.query, args: spec.args ?? {} },
    }),
    taskClass: more.taskClass ?? 'evidence',
  });
  return madeAs<ExtensionCapability>('capability', {
    declaration,
    repeatable: more.repeatable ?? false,
    // Arguments are sent as the plan wrote them: values that a schema makes from them, such as a date, are not JSON.
    perform: async (task, working) =>
      ours.wait(what, async () => ours.call(what, () => perform(args ? { ...task, args: args.parse(task.args) } : task, working))),
  });
}
