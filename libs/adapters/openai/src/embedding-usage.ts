import { estimateTokens, type Usage } from '@conclave/contracts';
import type { EmbeddingInput } from '@conclave/ports';
import type { ModelPrice } from './configuration.js';

/** The part of a server's reply with vectors that counts them. */
export interface EmbeddingUsage {
  readonly model?: string;
  readonly usage?: { readonly prompt_tokens?: unknown };
}

/** What the server counted, or else our estimate. */
export function usageOf({ usage }: EmbeddingUsage, input: EmbeddingInput, price: ModelPrice | undefined): Usage {
  const counted = usage?.prompt_tokens;
  const known = typeof counted === 'number' && Number.isInteger(counted) && counted >= 0;
  const prompt = known ? counted : tokensOf(input);
  return { calls: 1, prompt, completion: 0, reasoning: 0, cost: price ? (prompt * price.input) / 1_000_000 : 0, estimated: !known };
}

const tokensOf = (input: EmbeddingInput): number =>
  input.map((one) => (typeof one === 'string' ? estimateTokens(one) : one.length)).reduce((sum, tokens) => sum + tokens, 0);
