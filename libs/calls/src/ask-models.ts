import {
  addUsage,
  attemptsPerCall,
  estimatePrompt,
  estimateTokens,
  noUsage,
  type AnswerParameters,
  type Event,
  type FailureNote,
  type Usage,
} from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import { userInputsText, withUserInputs } from '@conclave/strategies';
import type { CallEnd, AskedMessage, Calls, FillIn, CallCheck } from './calls.js';
import type { Prices } from './usage.js';

export interface ModelQuestion {
  readonly runId: string;
  readonly owner: string;
  readonly purpose: string;
  /** Models in the order they are tried. */
  readonly models: readonly string[];
  /** The prompt, or a function that writes it within the given number of tokens. */
  readonly messages: readonly AskedMessage[] | ((promptTokens: number) => readonly AskedMessage[]);
  /** What the user said during the run; every prompt shows it. */
  readonly userInputs?: readonly string[];
  /** Inserts what the messages refer to; absent if they refer to nothing. */
  readonly fillIn?: FillIn;
  /** Context length in tokens by model, if known. */
  readonly contexts?: Readonly<Record<string, number>>;
  readonly parameters?: AnswerParameters;
  readonly temperature?: number;
  /** Reply format, used if the client sets none and the server supports it. */
  readonly wishedFormat?: Readonly<Record<string, unknown>>;
  readonly deadline: number;
  /** Maximum calls for this question, failed and repeated ones included. */
  readonly calls: number;
  /** Maximum prompt and completion tokens; absent if unlimited. */
  readonly tokens?: number;
  /** Maximum cost in currency units; null or absent if unlimited. */
  readonly cost?: number | null;
  readonly prices: Prices;
  readonly signal: AbortSignal;
  /** Whether the question is asked after the end of the run, to learn from it. */
  readonly afterRun?: boolean;
  /** Checked for each call that begins; absent if every call is wanted. */
  readonly wanted?: CallCheck;
  /** Maximum number of calls that earlier questions of the same owner made. */
  readonly firstIndex?: number;
  /**
   * `attempt` rises with every call and repeat: text of a lower attempt no longer counts. `before` is the failure of the previous model,
   * null for the first.
   */
  readonly onBegun?: (
    attempt: number,
    model: string,
    messages: readonly AskedMessage[],
    before: FailureNote | null,
  ) => void | Promise<void>;
  /** Called if a call waits for others of its provider; `line` says so to people. */
  readonly onWaiting?: (attempt: number, line: string) => Promise<void>;
  /** Called with a reply that was made just now, while the journal stores it; a replayed one is only returned. */
  readonly onReply?: (answer: MadeReply) => void | Promise<void>;
  readonly onContent?: (text: string, attempt: number) => void;
}

/** A reply with the attempt that its text and lines belong to. */
export interface MadeReply {
  readonly reply: ModelReply;
  readonly model: string;
  readonly attempt: number;
  readonly replayed: boolean;
}

export type AskOutcome =
  | ({ readonly kind: 'answer'; readonly usage: Usage; readonly records: readonly Event[] } & MadeReply)
  | {
      readonly kind: 'failed';
      readonly failure: FailureNote;
      readonly attempt: number;
      readonly usage: Usage;
      readonly records: readonly Event[];
    }
  | { readonly kind: 'cancelled'; readonly attempt: number; readonly usage: Usage; readonly records: readonly Event[] }
  | { readonly kind: 'busy'; readonly retryInMs: number };

/** Number of call indices reserved, with room for the models that a question skips. */
const indicesOf = (calls: number): number => calls * 8;

/** If fewer tokens than this are left, the limit is sent to the server; otherwise the server's own default is better. */
const tellTokensBelow = 8_192;

/** Tokens of a context reserved for the reply, at most a third of it. */
const replyTokens = 2_048;

const exhausted = (what: string): FailureNote => ({
  code: 'ALLOWANCE_EXHAUSTED',
  message: `No ${what} is left for this.`,
  retriable: false,
});

/**
 * Asks the models in order until one answers or the allowance is used up. After a broken stream, retries the first model once if there is
 * no other.
 */
export async function askModels(maker: Calls, question: ModelQuestion): Promise<AskOutcome> {
  const records: Event[] = [];
  let usage: Usage = noUsage;
  let failure = exhausted('model call');
  let attempt = 0;
  // Models skipped because their provider's breaker is open: they cost none of the calls.
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
        // The adapter's retries count as calls; one call is reserved for the next model.
        attempts: Math.max(1, question.calls - usage.calls - (tried + 1 < question.models.length ? 1 : 0)),
      },
      ...(Number.isFinite(room.replyTokens) ? { maxReplyTokens: room.replyTokens } : {}),
      ...(question.fillIn ? { fillIn: question.fillIn } : {}),
      deadline: question.deadline,
      prices: question.prices,
      signal: question.signal,
      ...(question.afterRun ? { afterRun: true } : {}),
      ...(question.wanted ? { wanted: question.wanted } : {}),
      onBegun: (journalAttempt) => {
        current = streamAttempt(journalAttempt);
        return question.onBegun?.(current, model, room.messages, tried === 0 ? null : failure);
      },
      ...(question.onWaiting
        ? {
            onWaiting: (journalAttempt: number, atATime: number) =>
              question.onWaiting!(streamAttempt(journalAttempt), waitingLine(model, atATime)),
          }
        : {}),
      ...(question.onReply
        ? {
            onReply: (reply: ModelReply, journalAttempt: number) =>
              question.onReply!({ reply, model, attempt: streamAttempt(journalAttempt), replayed: false }),
          }
        : {}),
      ...(question.onContent ? { onContent: (text: string) => question.onContent!(text, current) } : {}),
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

const waitingLine = (model: string, atATime: number): string =>
  `Waits for ${model}, which gets at most ${atATime === 1 ? 'one call' : `${atATime} calls`} at a time and answers others first`;

/** Why a later model was asked, as a suffix to its name in a line for people. */
export const insteadOf = (before: FailureNote | null): string => (before === null ? '' : `, after this: ${before.message}`);

/** The prompt for this model, and the tokens left for its reply. */
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
  const { userInputs = [] } = question;
  const room = promptTokens - estimateTokens(userInputsText(userInputs));
  const bare = typeof question.messages === 'function' ? question.messages(room) : question.messages;
  const messages = withUserInputs(bare, userInputs);
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
