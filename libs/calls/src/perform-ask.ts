import { addUsage, noUsage, type Event, type FailureNote, type Usage } from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import { faultsOf, reAsked, reAskTokens, type Ask, type TextFilter } from '@conclave/strategies';
import { askModels, type ModelQuestion } from './ask-models.js';
import type { AskedMessage, Calls } from './calls.js';
import type { LiveText } from './live-text.js';

/** Which time a model is asked, from 1, of how many. */
export interface Try {
  readonly n: number;
  readonly of: number;
}

type OfQuestion = 'runId' | 'owner' | 'purpose' | 'models' | 'contexts' | 'deadline' | 'calls' | 'tokens' | 'cost' | 'prices' | 'signal';

/** Who asks, and what all tries together may cost: `calls`, `tokens` and `cost` bound re-asks too. */
export interface Asking extends Pick<ModelQuestion, OfQuestion> {
  /** Calls that one try may cost; all of them where this is absent. */
  readonly callsPerTry?: number;
  /** Prompts of the template that replace shipped ones. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** Where the text of an attempt is shown while it is written; absent where nobody sees it. */
  readonly live?: (attempt: number) => LiveText;
  /** As in `Question`, with the try that the call belongs to. */
  readonly onBegun?: (
    begun: {
      readonly attempt: number;
      readonly model: string;
      readonly messages: readonly AskedMessage[];
      readonly before: FailureNote | null;
    },
    tried: Try,
  ) => Promise<void>;
  /** A reply was read: what is wrong with it, empty for one that can be used. */
  readonly onRead?: (
    read: { readonly attempt: number; readonly reply: ModelReply; readonly faults: readonly string[] },
    tried: Try,
  ) => Promise<void>;
}

/** A reply that could not be used. */
export interface Unreadable {
  readonly reply: ModelReply;
  readonly model: string;
  readonly faults: readonly string[];
}

interface Spent {
  readonly usage: Usage;
  readonly records: readonly Event[];
  /** Of the last call that was made, 0 where none was. */
  readonly attempt: number;
  /** Times a model was asked again because of what it replied. */
  readonly reAsks: number;
}

export type AskedFor<Out> =
  | ({ readonly kind: 'output'; readonly output: Out; readonly reply: ModelReply; readonly model: string } & Spent)
  | ({ readonly kind: 'unreadable'; readonly last: Unreadable } & Spent)
  /** `last`: the reply that was to be corrected, null where there was none. */
  | ({ readonly kind: 'failed'; readonly failure: FailureNote; readonly last: Unreadable | null } & Spent)
  | ({ readonly kind: 'cancelled' } & Spent)
  | { readonly kind: 'busy'; readonly retryInMs: number };

/**
 * Performs an ask: prompt, calls, reading, and again with what is wrong with a reply that cannot be used, as often as the ask says and as far
 * as the allowance goes. What finishes a first time is journalled and never paid again.
 */
export async function performAsk<In, Out>(maker: Calls, ask: Ask<In, Out>, input: In, asking: Asking): Promise<AskedFor<Out>> {
  const { callsPerTry = asking.calls, prompts = {}, live, onBegun, onRead, ...question } = asking;
  const { temperature, json } = ask.call ?? {};
  const parameters = ask.call?.parameters?.(input);
  const records: Event[] = [];
  let usage = noUsage;
  let attempt = 0;
  let last: Unreadable | null = null;
  for (let reAsks = 0; ; reAsks += 1) {
    const faulty = last;
    const tried = { n: reAsks + 1, of: ask.reAsks + 1 };
    let heard: Heard | null = null;
    const answered = await askModels(maker, {
      ...question,
      messages: (tokens) =>
        faulty === null
          ? ask.prompt(input, { tokens, prompts })
          : reAsked(ask.prompt(input, { tokens: tokens - reAskTokens, prompts }), faulty.reply.content, faulty.faults),
      calls: Math.min(callsPerTry, asking.calls - usage.calls),
      ...(asking.tokens === undefined ? {} : { tokens: asking.tokens - usage.prompt - usage.completion }),
      ...(typeof asking.cost === 'number' ? { cost: asking.cost - usage.cost } : {}),
      firstIndex: reAsks * callsPerTry,
      ...(temperature === undefined ? {} : { temperature }),
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
    });
    if (answered.kind === 'busy') return answered;
    records.push(...answered.records);
    usage = addUsage(usage, answered.usage);
    attempt = Math.max(attempt, answered.attempt);
    if (answered.kind === 'cancelled') return { kind: 'cancelled', usage, records, attempt, reAsks };
    if (answered.kind === 'failed') return { kind: 'failed', failure: answered.failure, last, usage, records, attempt, reAsks };
    const { reply, model, replayed } = answered;
    let shown = heard as Heard | null;
    if (live && ask.show && (shown?.attempt !== answered.attempt || replayed)) {
      // What was already paid for is shown again from its beginning; the run stream keeps only what it does not have yet.
      shown = new Heard(answered.attempt, ask.show(input), live(answered.attempt));
      shown.push(reply.content);
    }
    await shown?.end();
    // Who watched has seen exactly the text of the result.
    const reading = checked(ask, ask.read({ text: shown?.text ?? reply.content, cutShort: reply.finishReason === 'length' }, input));
    await onRead?.({ attempt: answered.attempt, reply, faults: 'faults' in reading ? reading.faults : [] }, tried);
    if ('output' in reading) return { kind: 'output', output: reading.output, reply, model, usage, records, attempt, reAsks };
    last = { reply, model, faults: reading.faults };
    if (reAsks === ask.reAsks) return { kind: 'unreadable', last, usage, records, attempt, reAsks };
  }
}

/** A reading that is not what the ask promises is a fault of the reply. */
function checked<In, Out>({ output }: Ask<In, Out>, reading: ReturnType<Ask<In, Out>['read']>): ReturnType<Ask<In, Out>['read']> {
  if ('faults' in reading) return reading;
  const parsed = output.safeParse(reading.output);
  return parsed.success ? { output: parsed.data } : { faults: faultsOf(parsed.error) };
}

/** The text of one attempt, as the model gave it and as it is shown. */
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
