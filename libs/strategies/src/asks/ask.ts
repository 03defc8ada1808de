import type { AnswerParameters } from '@conclave/contracts';
import type * as z from 'zod';
import type { PromptMessage } from '../prompts/quoting.js';
import type { Overrides } from '../prompts/rendering.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** `response_format` of a reply that is JSON. */
export type JsonForm = Readonly<{
  type: 'json_schema';
  json_schema: { readonly name: string; readonly schema: JsonSchema; readonly strict: boolean };
}>;

/** How many tokens a prompt may take, and which of its texts an operator has replaced. */
export interface Room {
  readonly tokens: number;
  readonly prompts: Overrides;
}
/** Nobody says how long the prompt may be, and no text is replaced. */
export const anyRoom: Room = { tokens: Number.POSITIVE_INFINITY, prompts: {} };

/** A reply as it is read. `cutShort`: the model stopped at its token limit. */
export interface Said {
  readonly text: string;
  readonly cutShort: boolean;
}

/** What a reply says, or why it cannot be used: sentences that the model is shown when it is asked again. */
export type Reading<Out> = { readonly output: Out } | { readonly faults: readonly string[] };

/** Makes of a reply that is still being written what people may see of it. `end` gives the rest and is called once. */
export interface TextFilter {
  push(text: string): string;
  end(): string;
}

/**
 * A question to a model: what it works on, how it is asked, how its reply is read, and what to do with a reply that cannot be used. Pure:
 * `performAsk` makes the calls.
 */
export interface Ask<In, Out> {
  readonly name: string;
  readonly input: z.ZodType<In>;
  /** What a reading must be; the sentences of its faults go back to the model. */
  readonly output: z.ZodType<Out>;
  prompt(input: In, room: Room): readonly PromptMessage[];
  read(said: Said, input: In): Reading<Out>;
  /** Times the model is asked again when its reply cannot be used. */
  readonly reAsks: 0 | 1 | 2;
  readonly call?: {
    readonly temperature?: number;
    /** Form of the reply, for servers that can be told. The reply is read tolerantly all the same. */
    readonly json?: JsonForm;
    /** What the client asks of the text, where the reply is the answer. */
    parameters?(input: In): AnswerParameters;
  };
  /** What is shown of a reply while it is written; the whole of it equals what `read` makes of the whole reply. */
  show?(input: In): TextFilter;
}
