import { estimatePrompt, estimateTokens, Failure, noUsage, Usage } from '@conclave/contracts';
import type { CallMessage, ModelReply } from '@conclave/ports';

/** Estimated usage of a call that ended without reporting any: its prompt and the text that arrived. */
export const estimatedUsage = (messages: readonly CallMessage[], arrived: string): Usage => ({
  ...noUsage,
  calls: 1,
  prompt: estimatePrompt(messages),
  completion: estimateTokens(arrived),
  estimated: true,
});

/**
 * Usage of a failed call: the adapter's count over all its tries, else none for an unknown model, else an estimate from the prompt and the
 * text that arrived.
 */
export function spentBy(error: unknown, messages: readonly CallMessage[], arrived: string): Usage {
  const counted = error instanceof Failure ? Usage.safeParse(error.options.context?.['usage']) : null;
  if (counted?.success) return counted.data;
  if (error instanceof Failure && error.code === 'MODEL_NOT_FOUND') return noUsage;
  return estimatedUsage(messages, arrived);
}

export type Prices = Readonly<Record<string, { readonly input: number; readonly output: number }>>;

/** Usage with its cost: tokens x currency units per million tokens. */
export function priced(usage: Usage, price: { readonly input: number; readonly output: number } | undefined): Usage {
  return { ...usage, cost: price ? (usage.prompt * price.input + usage.completion * price.output) / 1_000_000 : 0 };
}

export const usageOf = (reply: ModelReply, price: { readonly input: number; readonly output: number } | undefined): Usage =>
  priced({ ...reply.usage, calls: Math.max(1, reply.usage.calls) }, price);
