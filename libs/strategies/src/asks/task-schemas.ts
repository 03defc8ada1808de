import { TaskInput, TaskOutput } from '@conclave/contracts';
import type * as z from 'zod';

type OfKind<Schemas, K extends string> = Extract<Schemas, { readonly shape: { readonly kind: z.ZodLiteral<K> } }>;
type Inputs = (typeof TaskInput.options)[number];
type Outputs = (typeof TaskOutput.options)[number];

/** Schema of the input of a task, by its kind. */
export const inputOf = <K extends TaskInput['kind']>(kind: K): OfKind<Inputs, K> =>
  TaskInput.options.find(({ shape }) => shape.kind.value === kind) as OfKind<Inputs, K>;

/** Schema of the output of a task, by its kind. */
export const outputOf = <K extends TaskOutput['kind']>(kind: K): OfKind<Outputs, K> =>
  TaskOutput.options.find(({ shape }) => shape.kind.value === kind) as OfKind<Outputs, K>;
