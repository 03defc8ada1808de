import { currentFacts, isExpert, isJudge, tasksOf } from '@conclave/loop';
import {
  asData,
  dataRule,
  describeCapability,
  describePlanAsk,
  describeQuestion,
  describeStrategy,
  writer,
  type AskingStrategy,
  type ExtensionCapability,
} from '@conclave/strategies';
import type * as zod from 'zod';

/** What a module of an extension gets: it imports nothing of the product. `z` is zod, which the module may use all of. */
export const extensionKit = (z: typeof zod) => ({
  strategy: describeStrategy,
  capability: describeCapability,
  question: describeQuestion,
  planAsk: describePlanAsk,
  /** Judge that writes the answer from everything that was found. */
  writer,
  /** Text from outside, fenced so that nothing in it is an instruction; `dataRule` is the sentence that says so to the model. */
  asData,
  dataRule,
  /** What the run knows now, its tasks of a round, and what kind a task is. */
  currentFacts,
  tasksOf,
  isExpert,
  isJudge,
  z,
});
export type ExtensionKit = ReturnType<typeof extensionKit>;

/** What the function that a module exports by default gives. */
export interface Extension {
  readonly strategies?: readonly AskingStrategy[];
  readonly capabilities?: readonly ExtensionCapability[];
}
