import { noUsage, type Usage } from '@conclave/contracts';
import type { CallMessage, ModelReply } from '@conclave/ports';

/** Characters per token where nobody counted: the usual figure for English prose with current tokenisers. */
const charactersPerToken = 4;

export const estimateTokens = (text: string): number => Math.ceil(text.length / charactersPerToken);

/** What a call that ended without usage has cost at least: its prompt and what had arrived. */
export const estimatedUsage = (messages: readonly CallMessage[], arrived: string): Usage => ({
  ...noUsage,
  calls: 1,
  prompt: messages.reduce((sum, message) => sum + estimateTokens(message.content), 0),
  completion: estimateTokens(arrived),
  estimated: true,
});

export type Prices = Readonly<Record<string, { readonly input: number; readonly output: number }>>;

/** Usage with its cost: tokens x currency units per million tokens. */
export function priced(usage: Usage, price: { readonly input: number; readonly output: number } | undefined): Usage {
  return { ...usage, cost: price ? (usage.prompt * price.input + usage.completion * price.output) / 1_000_000 : 0 };
}

export const usageOf = (reply: ModelReply, price: { readonly input: number; readonly output: number } | undefined): Usage =>
  priced({ ...reply.usage, calls: Math.max(1, reply.usage.calls) }, price);
