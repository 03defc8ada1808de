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

/** Token limit of a prompt, and the texts in it that an operator has replaced. */
export interface Room {
  readonly tokens: number;
  readonly prompts: Overrides;
}
/** No token limit and no replaced texts. */
export const anyRoom: Room = { tokens: Number.POSITIVE_INFINITY, prompts: {} };

/** A model's reply. `cutShort`: the model stopped at its token limit, or was stopped because it repeated itself. */
export interface Said {
  readonly text: string;
  readonly cutShort: boolean;
}

/** The output of a reply, or why the reply is unusable: sentences shown to the model when it is asked again. */
export type ParsedReply<Out> = { readonly output: Out } | { readonly faults: readonly string[] };

/** Filters a reply while it streams to what users may see. `end` returns the rest and is called once. */
export interface TextFilter {
  push(text: string): string;
  end(): string;
}

/**
 * A question to a model: its input, its prompt, how its reply is read, and what to do with an unusable reply. Pure: `performAsk` makes
 * the calls.
 */
export interface Ask<In, Out> {
  readonly name: string;
  readonly input: z.ZodType<In>;
  /** Schema of a reading; the sentences of its faults are sent back to the model. */
  readonly output: z.ZodType<Out>;
  prompt(input: In, room: Room): readonly PromptMessage[];
  read(said: Said, input: In): ParsedReply<Out>;
  /** Times the model is asked again after an unusable reply. */
  readonly reAsks: 0 | 1 | 2;
  readonly call?: {
    readonly temperature?: number;
    /**
     * Form of the reply, for servers that accept one; it may name what this input allows, such as the ids of its tasks. The reply is
     * still read tolerantly.
     */
    json?(input: In): JsonForm;
    /** The client's parameters, when the reply is the answer. */
    parameters?(input: In): AnswerParameters;
  };
  /** Filter for a streaming reply; its whole output equals what `read` returns for the whole reply. */
  show?(input: In): TextFilter;
}
