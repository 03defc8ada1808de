import { estimateTokens, type Template } from '@conclave/contracts';
import type { Amount, JsonObject } from '@conclave/ports';

/** The minimum to reserve, and the amount for a template or model of unknown cost. */
interface Need {
  readonly guess: Amount;
  readonly least: Amount;
}

type Price = Template['prices'][string];

const perMillion = 1_000_000;

/** Any run of a template, at the highest of its prices. */
export function needOfRun({ limits, prices }: Template, reserveTokens: number): Need {
  const tokens = Math.min(limits.tokens, reserveTokens);
  const dearest = Math.max(0, ...Object.values(prices).map(({ input, output }) => Math.max(input, output)));
  const cost = Math.min(limits.cost ?? Number.POSITIVE_INFINITY, (tokens * dearest) / perMillion);
  return { guess: { tokens, cost }, least: { tokens: 0, cost: 0 } };
}

/** A call to a model: at least its prompt, with a reply as long as the request allows. */
export function needOfCall(body: JsonObject, price: Price = { input: 0, output: 0 }, reserveTokens: number): Need {
  const { messages, input, max_completion_tokens: most, max_tokens: formerMost } = body;
  const prompt = estimateTokens(JSON.stringify(messages ?? input ?? ''));
  const allowed = [most, formerMost].find((tokens): tokens is number => typeof tokens === 'number' && tokens > 0);
  // Embeddings have no reply in tokens.
  const reply = input === undefined ? Math.ceil(allowed ?? reserveTokens) : 0;
  const cost = (tokens: number, of: keyof Price): number => (tokens * price[of]) / perMillion;
  return {
    least: { tokens: prompt, cost: cost(prompt, 'input') },
    guess: { tokens: prompt + reply, cost: cost(prompt, 'input') + cost(reply, 'output') },
  };
}
