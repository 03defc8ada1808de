import * as z from 'zod';
import { only } from '../json-schema.js';
import { AnswerFacts, ChatCompletionRequest, ChatUsage, ConclaveOptions, FinishReason } from './chat.js';

const { model, stream, stream_options, temperature, top_p, stop, max_tokens, seed, user, safety_identifier } = ChatCompletionRequest.shape;
const isTokens = (input: unknown): boolean => typeof input === 'number' || Array.isArray(input);

/** OpenAI's legacy API, for tools that still use it. */
export const CompletionRequest = z.object({
  ...{ model, stream, stream_options, temperature, top_p, stop, max_tokens, seed, user, safety_identifier },
  prompt: z
    .union(
      [
        z.string(),
        z
          .array(
            z.string({
              error: ({ input }) =>
                isTokens(input) ? 'is not a text: token ids mean different words to each model, so send the text itself' : 'must be a text',
            }),
          )
          .min(1, { error: 'must contain a text' })
          .meta({ maxItems: 1 }),
      ],
      { error: 'must be a text' },
    )
    .describe('the question: a text, or a list of one'),
  n: only(1),
  best_of: only(1),
  echo: only(false).describe('true is refused: an answer does not repeat its prompt'),
  suffix: only('').describe('a text is refused: nothing is inserted into a text'),
  logprobs: only().describe('a number is refused: an answer comes from several model calls'),
  conclave: ConclaveOptions.nullish(),
});
export type CompletionRequest = z.infer<typeof CompletionRequest>;

const Choice = z.object({ text: z.string(), index: z.int(), logprobs: z.null(), finish_reason: FinishReason.nullable() });

/** A whole answer, and each chunk of a streamed one. */
export const Completion = z.object({
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.int().describe('seconds since 1970'),
  model: z.string().describe('as requested'),
  choices: z.array(Choice).describe('empty on a usage chunk'),
  usage: ChatUsage.optional(),
  conclave: AnswerFacts.optional().describe('absent for a direct model'),
});
export type Completion = z.infer<typeof Completion>;
