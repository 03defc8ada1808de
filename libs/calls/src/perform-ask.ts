import { addUsage, Failure, noUsage, type Event, type FailureNote, type Usage } from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import { faultsOf, reAsked, reAskTemperature, reAskTokens, type Ask, type TextFilter } from '@conclave/strategies';
import { askModels, type AskOutcome, type MadeReply, type ModelQuestion } from './ask-models.js';
import type { AskedMessage, Calls } from './calls.js';
import type { LiveText } from './live-text.js';
import { ReadOnce } from './read-once.js';

/** The number of the try, from 1, and the maximum. */
export interface Try {
  readonly n: number;
  readonly of: number;
}

type OfQuestion =
  | 'runId'
  | 'owner'
  | 'purpose'
  | 'models'
  | 'contexts'
  | 'deadline'
  | 'calls'
  | 'tokens'
  | 'cost'
  | 'prices'
  | 'signal'
  | 'userInputs'
  | 'wanted'
  | 'onWaiting';

/** The asker's limits over all tries: `calls`, `tokens` and `cost` include re-asks. */
export interface AskOptions extends Pick<ModelQuestion, OfQuestion> {
  /** Maximum calls per try; all of them if absent. */
  readonly callsPerTry?: number;
  /** The template's replacements of shipped prompts. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** Shows the text of an attempt while it is written; absent if it is not shown. */
  readonly live?: (attempt: number) => LiveText;
  /** As in `ModelQuestion`, plus the call's try. */
  readonly onBegun?: (
    begun: {
      readonly attempt: number;
      readonly model: string;
      readonly messages: readonly AskedMessage[];
      readonly before: FailureNote | null;
    },
    tried: Try,
  ) => Promise<void>;
  /** Called after a reply was read, with its faults, while the reply is stored; empty for a usable reply. */
  readonly onRead?: (read: ReadReply<unknown>, tried: Try) => Promise<void>;
}

/** A reply that was read: `output` is undefined if it has faults. */
export interface ReadReply<Out> {
  readonly attempt: number;
  readonly reply: ModelReply;
  readonly faults: readonly string[];
  readonly output?: Out;
}

/** An unusable reply. */
export interface Unreadable {
  readonly reply: ModelReply;
  readonly model: string;
  readonly faults: readonly string[];
}

interface Spent {
  readonly usage: Usage;
  readonly records: readonly Event[];
  /** Attempt of the last call, 0 if there was none. */
  readonly attempt: number;
  /** How often a model was asked again because of its reply. */
  readonly reAsks: number;
}

export type AskedFor<Out> =
  | ({ readonly kind: 'output'; readonly output: Out; readonly reply: ModelReply; readonly model: string } & Spent)
  | ({ readonly kind: 'unreadable'; readonly last: Unreadable } & Spent)
  /** `last`: the reply that was to be corrected, null if there was none. */
  | ({ readonly kind: 'failed'; readonly failure: FailureNote; readonly last: Unreadable | null } & Spent)
  | ({ readonly kind: 'cancelled' } & Spent)
  | { readonly kind: 'busy'; readonly retryInMs: number };

/**
 * Performs an ask: prompt, calls, reading, and re-asks that name the faults of an unusable reply, within the ask's limit and the allowance.
 * Finished calls are journalled and never paid again.
 */
export async function performAsk<In, Out>(maker: Calls, ask: Ask<In, Out>, input: In, asking: AskOptions): Promise<AskedFor<Out>> {
  const { callsPerTry = asking.calls, prompts = {}, live, onBegun, onRead, ...question } = asking;
  const { temperature } = ask.call ?? {};
  const json = ask.call?.json?.(input);
  const parameters = ask.call?.parameters?.(input);
  const records: Event[] = [];
  let usage = noUsage;
  let attempt = 0;
  let last: Unreadable | null = null;
  for (let reAsks = 0; ; reAsks += 1) {
    const faulty = last;
    const tried = { n: reAsks + 1, of: ask.reAsks + 1 };
    let heard: Heard | null = null;
    const read = async (answer: MadeReply): Promise<ReturnType<Ask<In, Out>['read']>> => {
      const { reply, attempt: of, replayed } = answer;
      let shown = heard as Heard | null;
      if (live && ask.show && (shown?.attempt !== of || replayed)) {
        // Already paid text is shown again from the beginning; the run stream keeps only the missing part.
        shown = new Heard(of, ask.show(input), live(of));
        shown.push(reply.content);
      }
      const ended = shown?.end();
      // Viewers have seen exactly the text of the result.
      const reading = checked(ask, ask.read({ text: shown?.text ?? reply.content, cutShort: isCutShort(reply) }, input));
      await Promise.all([ended, onRead?.({ attempt: of, reply, faults: [], ...reading }, tried)]);
      return reading;
    };
    const reading = new ReadOnce(read);
    const answered = await orUnasked(
      askModels(maker, {
        ...question,
        messages: (tokens) =>
          faulty === null
            ? ask.prompt(input, { tokens, prompts })
            : reAsked(ask.prompt(input, { tokens: tokens - reAskTokens, prompts }), faulty.reply.content, faulty.faults),
        calls: Math.min(callsPerTry, asking.calls - usage.calls),
        ...(asking.tokens === undefined ? {} : { tokens: asking.tokens - usage.prompt - usage.completion }),
        ...(typeof asking.cost === 'number' ? { cost: asking.cost - usage.cost } : {}),
        firstIndex: reAsks * callsPerTry,
        ...(temperature === undefined ? {} : { temperature: faulty === null ? temperature : Math.max(temperature, reAskTemperature) }),
        ...(json ? { wishedFormat: json } : {}),
        ...(parameters ? { parameters } : {}),
        ...(onBegun ? { onBegun: (begun, model, messages, before) => onBegun({ attempt: begun, model, messages, before }, tried) } : {}),
        ...(live && ask.show
          ? {
              onContent: (text, of) => {
                if (heard?.attempt !== of) heard = new Heard(of, ask.show!(input), live(of));
                heard.push(text);
              },
            }
          : {}),
        onReply: async (answer) => void (await reading.of(answer)),
      }),
    );
    if (answered.kind === 'busy') return answered;
    records.push(...answered.records);
    usage = addUsage(usage, answered.usage);
    attempt = Math.max(attempt, answered.attempt);
    if (answered.kind === 'cancelled') return { kind: 'cancelled', usage, records, attempt, reAsks };
    if (answered.kind === 'failed') return { kind: 'failed', failure: answered.failure, last, usage, records, attempt, reAsks };
    const { reply, model } = answered;
    const said = await reading.of(answered);
    if ('output' in said) return { kind: 'output', output: said.output, reply, model, usage, records, attempt, reAsks };
    last = { reply, model, faults: said.faults };
    if (reAsks === ask.reAsks) return { kind: 'unreadable', last, usage, records, attempt, reAsks };
  }
}

/**
 * Turns STRATEGY_FAILED, which the code of a strategy throws while it writes the prompt, into a failed outcome: a repeat would fail too.
 */
async function orUnasked(asked: Promise<AskOutcome>): Promise<AskOutcome> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'STRATEGY_FAILED') throw error;
    const failure = { code: error.code, message: error.detail ?? error.message, retriable: false };
    return { kind: 'failed', failure, attempt: 0, usage: noUsage, records: [] };
  }
}

/** Whether a reply ended before its model had said all: at a limit, or because it repeated itself. */
export const isCutShort = ({ finishReason }: Pick<ModelReply, 'finishReason'>): boolean =>
  finishReason === 'length' || finishReason === 'repetition';

/** A reading that violates the ask's schema is a fault of the reply. */
function checked<In, Out>({ output }: Ask<In, Out>, reading: ReturnType<Ask<In, Out>['read']>): ReturnType<Ask<In, Out>['read']> {
  if ('faults' in reading) return reading;
  const parsed = output.safeParse(reading.output);
  return parsed.success ? { output: parsed.data } : { faults: faultsOf(parsed.error) };
}

/** The text of one attempt, as the model sent it and as it is shown. */
class Heard {
  text = '';

  constructor(
    readonly attempt: number,
    private readonly filter: TextFilter,
    private readonly live: LiveText,
  ) {}

  push(text: string): void {
    this.text += text;
    this.live.push(this.filter.push(text));
  }

  async end(): Promise<void> {
    this.live.push(this.filter.end());
    await this.live.flush();
  }
}
