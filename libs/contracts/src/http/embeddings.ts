import * as z from 'zod';
import { endUserFields } from './chat.js';

const isTokens = (input: unknown): boolean => typeof input === 'number' || Array.isArray(input);
const Text = z.string({
  error: ({ input }) =>
    isTokens(input) ? 'is not a text: token ids mean other words to every model, so send the text itself' : 'must be a text',
});

export const EmbeddingRequest = z.object({
  model: z
    .string({ error: 'must be `conclave-embedding` or `model@provider`' })
    .min(1, { error: 'must be `conclave-embedding` or `model@provider`' })
    .describe('`conclave-embedding`: what collections use; or an embedding model as `model@provider`'),
  input: z
    .union([z.string(), z.array(Text).min(1, { error: 'must hold at least one text' })], { error: 'must be a text or a list of texts' })
    .describe('one text, or several; token ids are refused'),
  encoding_format: z
    .enum(['float', 'base64'], { error: 'must be "float" or "base64"' })
    .nullish()
    .describe('base64: the bytes of 32-bit floats, little-endian; float by default'),
  dimensions: z
    .int({ error: 'must be a whole number above 0' })
    .positive({ error: 'must be a whole number above 0' })
    .nullish()
    .describe('numbers per vector, for models that can shorten theirs'),
  ...endUserFields,
});
export type EmbeddingRequest = z.infer<typeof EmbeddingRequest>;

export const EmbeddingList = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.int().describe('of the text in `input`'),
      embedding: z.union([z.array(z.number()), z.string()]).describe('numbers, or base64'),
    }),
  ),
  model: z.string().describe('as requested'),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});
export type EmbeddingList = z.infer<typeof EmbeddingList>;
