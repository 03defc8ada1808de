import { addUsage, noUsage, type AnswerParameters, type Event, type FailureNote, type Usage } from '@conclave/contracts';
import type { CallMessage, ModelReply } from '@conclave/ports';
import type { CallMaker } from './call-maker.js';
import type { Prices } from './usage.js';

export interface Question {
  readonly runId: string;
  readonly owner: string;
  readonly purpose: string;
  /** Models in the order they are tried. */
  readonly models: readonly string[];
  readonly messages: readonly CallMessage[];
  readonly parameters?: AnswerParameters;
  readonly temperature?: number;
  readonly deadline: number;
  /** Calls this question may cost, failed ones too. */
  readonly calls: number;
  /** Tokens a reply may have, where the budget is short of them. */
  readonly maxTokens?: number;
  readonly prices: Prices;
  readonly signal: AbortSignal;
  /** Index of the first call inside its owner; the next question of the same owner starts higher. */
  readonly firstIndex?: number;
  /** `attempt` rises with every call and every repeat of one: what was written by a lower one no longer counts. */
  readonly onBegun?: (attempt: number, model: string) => void | Promise<void>;
  readonly onContent?: (text: string, attempt: number) => void;
}

export type Answered =
  | {
      readonly kind: 'answer';
      readonly reply: ModelReply;
      readonly model: string;
      readonly attempt: number;
      readonly replayed: boolean;
      readonly usage: Usage;
      readonly records: readonly Event[];
    }
  | {
      readonly kind: 'failed';
      readonly failure: FailureNote;
      readonly attempt: number;
      readonly usage: Usage;
      readonly records: readonly Event[];
    }
  | { readonly kind: 'cancelled'; readonly attempt: number; readonly usage: Usage; readonly records: readonly Event[] }
  | { readonly kind: 'busy'; readonly retryInMs: number };

/** Attempts of one call that keep their order below those of the next call of the same owner. */
const attemptsPerCall = 100;

/** Below this many tokens the limit is told to the server; above, its own default is better. */
const tellTokensBelow = 8_192;

/**
 * Asks the models in order until one answers or the calls are used up. A broken stream is tried once more on the same model
 * when there is no other.
 */
export async function askModels(maker: CallMaker, question: Question): Promise<Answered> {
  const records: Event[] = [];
  let usage: Usage = noUsage;
  let failure: FailureNote = { code: 'ALLOWANCE_EXHAUSTED', message: 'No model call is left for this.', retriable: false };
  let attempt = 0;
  for (let tried = 0; tried < question.calls; tried += 1) {
    const model = question.models[tried] ?? (failure.code === 'PROVIDER_STREAM_BROKEN' ? question.models[0] : undefined);
    if (model === undefined) break;
    const index = (question.firstIndex ?? 0) + tried;
    const streamAttempt = (journalAttempt: number): number => index * attemptsPerCall + journalAttempt;
    let current = streamAttempt(1);
    const maxTokens = smaller(
      question.parameters?.max_tokens,
      question.maxTokens !== undefined && question.maxTokens < tellTokensBelow ? question.maxTokens : undefined,
    );
    const temperature = question.parameters?.temperature ?? question.temperature;
    const end = await maker.model({
      runId: question.runId,
      owner: question.owner,
      index,
      purpose: question.purpose,
      request: {
        model,
        messages: question.messages,
        ...(temperature === undefined ? {} : { temperature }),
        ...(maxTokens === undefined ? {} : { maxTokens }),
        ...(question.parameters?.top_p === undefined ? {} : { topP: question.parameters.top_p }),
        ...(question.parameters?.stop === undefined ? {} : { stop: question.parameters.stop }),
        ...(question.parameters?.seed === undefined ? {} : { seed: question.parameters.seed }),
        ...(question.parameters?.response_format === undefined ? {} : { responseFormat: question.parameters.response_format }),
      },
      deadline: question.deadline,
      prices: question.prices,
      signal: question.signal,
      onBegun: (journalAttempt) => {
        current = streamAttempt(journalAttempt);
        return question.onBegun?.(current, model);
      },
      onContent: (text) => question.onContent?.(text, current),
    });
    if (end.kind === 'busy') return end;
    usage = addUsage(usage, end.usage);
    if (end.record) records.push(end.record);
    attempt = streamAttempt(end.attempt);
    if (end.kind === 'reply') return { kind: 'answer', reply: end.reply, model, attempt, replayed: end.replayed, usage, records };
    if (end.kind === 'cancelled') return { kind: 'cancelled', attempt, usage, records };
    failure = end.failure;
  }
  return { kind: 'failed', failure, attempt, usage, records };
}

const smaller = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b);
