import * as z from 'zod';
import { endUserFields } from './chat.js';

type EmbeddingRequestInput = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

const isToken = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;

/** The check for every member of a list, chosen by its first member, and the error message of a member that fails it. */
function sortOf(first: unknown): readonly [fits: (member: unknown) => boolean, wanted: string] {
  if (typeof first === 'number') return [isToken, 'must be the number of a token'];
  if (Array.isArray(first)) return [(member) => Array.isArray(member) && member.length > 0, 'must be a list of at least one token'];
  return [(member) => typeof member === 'string', 'must be a text'];
}

/** Checks up to 100,000 numbers in one pass. A union of the four forms would create an error for each number. */
const Input = z
  .custom<EmbeddingRequestInput>()
  .superRefine((input: unknown, context) => {
    const refuse = (message: string, path: number[] = []): void => context.addIssue({ code: 'custom', message, path });
    if (typeof input === 'string') return;
    if (!Array.isArray(input)) return refuse('must be a text, a list of texts, or numbers of tokens');
    if (input.length === 0) return refuse('must contain at least one text');
    const [fits, wanted] = sortOf(input[0]);
    const other = input.findIndex((member) => !fits(member));
    if (other >= 0) return refuse(wanted, [other]);
    if (!Array.isArray(input[0])) return;
    for (const [at, list] of (input as unknown[][]).entries()) {
      const wrong = list.findIndex((number) => !isToken(number));
      if (wrong >= 0) return refuse('must be the number of a token', [at, wrong]);
    }
  })
  .meta({
    anyOf: [
      { type: 'string' },
      { type: 'array', minItems: 1, items: { type: 'string' } },
      { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } },
      { type: 'array', minItems: 1, items: { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } } },
    ],
    description:
      'a text or a list of texts; or the tokens of one text or of several, as numbers: `conclave-embedding` reads them as tokens of cl100k_base, models of providers get them unchanged',
  });

export const EmbeddingRequest = z.object({
  model: z
    .string({ error: 'must be `conclave-embedding` or `model@provider`' })
    .min(1, { error: 'must be `conclave-embedding` or `model@provider`' })
    .describe('`conclave-embedding`: what collections use; or an embedding model as `model@provider`'),
  input: Input,
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
      index: z.int().describe('index of the text in `input`'),
      embedding: z.union([z.array(z.number()), z.string()]).describe('numbers, or base64'),
    }),
  ),
  model: z.string().describe('as requested'),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});
export type EmbeddingList = z.infer<typeof EmbeddingList>;
