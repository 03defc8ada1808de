import { currentFacts, isExpert, isJudge, tasksOf } from '@conclave/loop';
import {
  asData,
  dataRule,
  describeCapability,
  describePlanAsk,
  describeQuestion,
  describeStrategy,
  languageLine,
  writer,
  type AskingStrategy,
  type ExtensionCapability,
} from '@conclave/strategies';
import type * as zod from 'zod';

/** Passed to an extension module, which imports nothing from the product. `z` is all of zod. */
export const extensionKit = (z: typeof zod) => ({
  strategy: describeStrategy,
  capability: describeCapability,
  question: describeQuestion,
  planAsk: describePlanAsk,
  /** Judge that writes the answer from all findings. */
  writer,
  /** Foreign text, fenced so that it is not read as an instruction; `dataRule` is the sentence that explains this to the model. */
  asData,
  dataRule,
  /** Names the language of a question that is not in English, for the end of a prompt. */
  languageLine,
  /** A run's current facts, its tasks of one epoch, and the kind of a task. */
  currentFacts,
  tasksOf,
  isExpert,
  isJudge,
  z,
});
export type ExtensionKit = ReturnType<typeof extensionKit>;

/** Result of the function that a module exports by default. */
export interface Extension {
  readonly strategies?: readonly AskingStrategy[];
  readonly capabilities?: readonly ExtensionCapability[];
}
