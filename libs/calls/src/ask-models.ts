import { addUsage, estimatePrompt, noUsage, type AnswerParameters, type Event, type FailureNote, type Usage } from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import type { CallEnd, AskedMessage, Calls, FillIn } from './calls.js';
import type { Prices } from './usage.js';

export interface ModelQuestion {
  readonly runId: string;
  readonly owner: string;
  readonly purpose: string;
  /** Models in the order they are tried. */
  readonly models: readonly string[];
  /** The prompt, or how it is written so that it has at most so many tokens. */
  readonly messages: readonly AskedMessage[] | ((promptTokens: number) => readonly AskedMessage[]);
  /** Puts in what the messages refer to; absent where they refer to nothing. */
  readonly fillIn?: FillIn;
  /** Context length in tokens by model, where known. */
  readonly contexts?: Readonly<Record<string, number>>;
  readonly parameters?: AnswerParameters;
  readonly temperature?: number;
  /** Form of the reply, where the client asks for none and the server knows it. */
  readonly wishedFormat?: Readonly<Record<string, unknown>>;
  readonly deadline: number;
  /** Calls this question may cost, failed and repeated ones too. */
  readonly calls: number;
  /** Prompt and completion tokens it may cost; absent where nothing bounds them. */
  readonly tokens?: number;
  /** Currency units it may cost; null or absent where nothing bounds them. */
  readonly cost?: number | null;
  readonly prices: Prices;
  readonly signal: AbortSignal;
  /** Asked for a run that is over, to learn from it. */
  readonly afterRun?: boolean;
  /** Calls that earlier questions of the same owner may have cost. */
  readonly firstIndex?: number;
  /**
   * `attempt` rises with every call and every repeat of one: what was written by a lower one no longer counts. `before` is what the model
   * before this one failed with, null for the first.
   */
  readonly onBegun?: (
    attempt: number,
    model: string,
    messages: readonly AskedMessage[],
    before: FailureNote | null,
  ) => void | Promise<void>;
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

/** Attempts of one call that keep their order below those of the next call of the same owner: 100 between two rebuilds of the store. */
const attemptsPerCall = 10_000;

/** Calls of an owner are numbered with room for the models that a question passes over. */
const indicesOf = (calls: number): number => calls * 8;

/** Below this many tokens the limit is told to the server; above, its own default is better. */
const tellTokensBelow = 8_192;

/** Tokens of a context that are kept for the reply, at most a third of it. */
const replyTokens = 2_048;

const exhausted = (what: string): FailureNote => ({
  code: 'ALLOWANCE_EXHAUSTED',
  message: `No ${what} is left for this.`,
  retriable: false,
});

/**
 * Asks the models in order until one answers or the allowance is used up. A broken stream is tried once more on the first model
 * when there is no other.
 */
export async function askModels(maker: Calls, question: ModelQuestion): Promise<Answered> {
  const records: Event[] = [];
  let usage: Usage = noUsage;
  let failure = exhausted('model call');
  let attempt = 0;
  // Models that were not asked, because their provider is left alone: they cost none of the calls.
  let passed = 0;
  for (let tried = 0; tried < indicesOf(question.calls) && tried - passed < question.calls && usage.calls < question.calls; tried += 1) {
    const again = failure.code === 'PROVIDER_STREAM_BROKEN' && tried === question.models.length;
    const model = again ? question.models[0] : question.models[tried];
    if (model === undefined) break;
    const room = roomFor(question, model, usage);
    if (room.replyTokens <= 0) {
      failure = exhausted('token or money');
      break;
    }
    const index = indicesOf(question.firstIndex ?? 0) + tried;
    const streamAttempt = (journalAttempt: number): number => index * attemptsPerCall + journalAttempt;
    let current = streamAttempt(1);
    const end: CallEnd = await maker.model({
      runId: question.runId,
      owner: question.owner,
      index,
      purpose: question.purpose,
      request: {
        model,
        messages: room.messages,
        ...parametersOf(question, room.replyTokens),
        // A call that is tried again by the adapter is a call; the next model keeps one.
        attempts: Math.max(1, question.calls - usage.calls - (tried + 1 < question.models.length ? 1 : 0)),
      },
      ...(Number.isFinite(room.replyTokens) ? { maxReplyTokens: room.replyTokens } : {}),
      ...(question.fillIn ? { fillIn: question.fillIn } : {}),
      deadline: question.deadline,
      prices: question.prices,
      signal: question.signal,
      ...(question.afterRun ? { afterRun: true } : {}),
      onBegun: (journalAttempt) => {
        current = streamAttempt(journalAttempt);
        return question.onBegun?.(current, model, room.messages, tried === 0 ? null : failure);
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
    if (failure.code === 'PROVIDER_UNWELL') passed += 1;
  }
  return { kind: 'failed', failure, attempt, usage, records };
}

/** Why another model is asked than the first, to stand behind its name in a line for people. */
export const insteadOf = (before: FailureNote | null): string => (before === null ? '' : `, after this: ${before.message}`);

/** The prompt as this model may get it, and the tokens that are left for its reply. */
function roomFor(
  question: ModelQuestion,
  model: string,
  spent: Usage,
): { readonly messages: readonly AskedMessage[]; readonly replyTokens: number } {
  const tokensLeft = (question.tokens ?? Number.POSITIVE_INFINITY) - spent.prompt - spent.completion;
  const context = question.contexts?.[model] ?? Number.POSITIVE_INFINITY;
  const kept = (size: number): number => size - Math.min(question.parameters?.max_tokens ?? replyTokens, size / 3);
  const promptTokens = Math.min(
    Number.isFinite(context) ? kept(context) : context,
    Number.isFinite(tokensLeft) ? kept(tokensLeft) : tokensLeft,
  );
  const messages = typeof question.messages === 'function' ? question.messages(promptTokens) : question.messages;
  const prompt = estimatePrompt(messages);
  const price = question.prices[model];
  const costLeft = typeof question.cost === 'number' && price ? question.cost - spent.cost - (prompt * price.input) / 1_000_000 : null;
  const paid =
    costLeft === null || !price
      ? Number.POSITIVE_INFINITY
      : price.output > 0
        ? (costLeft * 1_000_000) / price.output
        : costLeft > 0
          ? Number.POSITIVE_INFINITY
          : 0;
  return { messages, replyTokens: Math.floor(Math.min(tokensLeft - prompt, paid)) };
}

function parametersOf({ parameters, temperature, wishedFormat }: ModelQuestion, replyLeft: number) {
  const maxTokens = Math.min(
    parameters?.max_tokens ?? Number.POSITIVE_INFINITY,
    replyLeft < tellTokensBelow ? replyLeft : Number.POSITIVE_INFINITY,
  );
  const entries = {
    temperature: parameters?.temperature ?? temperature,
    maxTokens: Number.isFinite(maxTokens) ? maxTokens : undefined,
    topP: parameters?.top_p,
    stop: parameters?.stop,
    seed: parameters?.seed,
    responseFormat: parameters?.response_format,
    wishedFormat: parameters?.response_format ? undefined : wishedFormat,
  };
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}
