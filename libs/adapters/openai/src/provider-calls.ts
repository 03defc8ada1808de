import { addUsage, estimatePrompt, estimateTokens, Failure, noUsage, type Usage } from '@conclave/contracts';
import {
  asksForUsage,
  type CallMessage,
  type CallWatch,
  type ModelCall,
  type ModelReply,
  type PassedReply,
  type PassedRequest,
  type PassWatch,
} from '@conclave/ports';
import { attempt } from './attempt.js';
import { CallSlots } from './call-slots.js';
import type { Concession, Concessions } from './concession.js';
import { bodyOf, concessionFor, formatIsOptional, passedBody, type CompletionBody } from './concessions.js';
import {
  defaultConcurrency,
  type CallTimeouts,
  type KnownModel,
  type ModelPrice,
  type ProviderConfig,
  type RetrySettings,
} from './configuration.js';
import { LearnedConcessions } from './learned-concessions.js';
import { opensThinkingByName } from './opened-thinking.js';
import { ReplyReader, type ReplyWatch } from './reply-reader.js';
import { backOffMs, pause } from './retry.js';
import { asRefused, faultOf, type FailedAttempt } from './upstream-failure.js';
import { Watchdog } from './watchdog.js';

/** Outcome of one attempt. */
type Attempted =
  | { readonly reply: ReturnType<ReplyReader['reply']>; readonly body: ReplyReader['body']; readonly beganInThinking: boolean }
  | { readonly fault: FailedAttempt; readonly spent: Usage; readonly streamed: boolean };

/** One request with all its attempts, ours or passed through. */
interface Exchange {
  readonly bodyOf: (made: Concessions) => CompletionBody;
  /** What may be given up so that the server accepts it. */
  readonly mayConcede: (concession: Concession) => boolean;
  /** Whether the call can do without its reply format. */
  readonly isFormatWished: boolean;
  readonly onDelta?: CallWatch['onDelta'] | undefined;
  readonly passed?: ReplyWatch['passed'];
  readonly signal: AbortSignal;
  readonly onRetry?: CallWatch['onRetry'];
  readonly estimatedPrompt: number;
  /** Texts that must not appear in an error message. */
  readonly prompts: readonly string[];
  readonly timeoutMs: number;
  readonly attempts: number;
  readonly known: KnownModel;
}

/** Calls to one provider: slots, attempts, back-off. Leaves out what a server does not support, per model. */
export class ProviderCalls {
  readonly maxConcurrency: number;
  private readonly slots: CallSlots;
  private readonly concessions: LearnedConcessions;
  /** Whether the last reply of a model began in the middle of thinking, because the prompt template opens it: the next one will, too. */
  private readonly beganInThinking = new Map<string, boolean>();
  /** What the server says about the prompt templates of its models. */
  private readonly opensThinking = new Map<string, boolean>();

  constructor(
    readonly name: string,
    readonly config: ProviderConfig,
    private readonly timeouts: CallTimeouts,
    private readonly retry: RetrySettings,
    onConceded: (ref: string, what: string) => void = () => undefined,
  ) {
    this.concessions = new LearnedConcessions((model, concession) => onConceded(`${model}@${name}`, concession));
    this.maxConcurrency = config.max_concurrency ?? defaultConcurrency(config.local);
    this.slots = new CallSlots(this.maxConcurrency);
  }

  /**
   * One call with its retries. Its timeout starts when it has a slot; only the signal bounds the wait for one.
   * `usage.calls` of the reply counts every attempt; a Failure carries `usage` and `attempts` in its context.
   */
  async call(model: string, call: ModelCall, known: KnownModel, watch: CallWatch): Promise<ModelReply> {
    const { body: _, ...reply } = await this.inSlot(model, {
      ...watch,
      bodyOf: (made) => bodyOf(call, model, made),
      mayConcede: () => true,
      isFormatWished: formatIsOptional(call),
      estimatedPrompt: estimatePrompt(call.messages),
      prompts: call.messages.flatMap(textsOf),
      timeoutMs: call.timeoutMs,
      attempts: call.attempts ?? Infinity,
      known,
    });
    return reply;
  }

  /** Like `call`, for a client's own request: returns the reply, or the refusal, unchanged. */
  async pass(
    model: string,
    { body, timeoutMs, attempts = Infinity }: PassedRequest,
    known: KnownModel,
    watch: PassWatch,
  ): Promise<PassedReply> {
    const streams = body['stream'] === true;
    const choices = typeof body['n'] === 'number' && body['n'] >= 1 ? body['n'] : 1;
    return this.inSlot(model, {
      signal: watch.signal,
      ...(watch.onRetry ? { onRetry: watch.onRetry } : {}),
      onDelta: watch.onDelta,
      bodyOf: (made) => passedBody(body, model, made),
      mayConcede: (concession) => ofPassed.has(concession) || (concession === 'no usage option' && body['stream_options'] === undefined),
      isFormatWished: false,
      passed: { choices, usage: asksForUsage(body), onChunk: streams ? (watch.onChunk ?? (() => undefined)) : null },
      estimatedPrompt: estimateTokens(JSON.stringify(body['messages'] ?? '')),
      prompts: stringsIn(body['messages']),
      timeoutMs,
      attempts,
      known,
    });
  }

  /** The server's template for a model ends with an open `<think>`, or does not. */
  templateOpensThinking(model: string, opens: boolean): void {
    this.opensThinking.set(model, opens);
  }

  /** Before its first reply, a model is known by its template, or by its name. */
  private expectsThinking(model: string): boolean {
    return this.beganInThinking.get(model) ?? this.opensThinking.get(model) ?? opensThinkingByName(model);
  }

  private async inSlot(model: string, exchange: Exchange): Promise<PassedReply> {
    const giveBack = await this.slots.take(exchange.signal);
    try {
      return await this.withSlot(model, exchange);
    } finally {
      giveBack();
    }
  }

  private async withSlot(model: string, exchange: Exchange): Promise<PassedReply> {
    const { signal } = exchange;
    const price = exchange.known.price ?? null;
    const startedAt = performance.now();
    const deadline = startedAt + Math.min(exchange.timeoutMs, this.config.timeout_ms ?? Infinity);
    const made = this.concessions.of(model);
    const now: Concession[] = [];
    let spent = noUsage;
    let firstTokenMs: number | null = null;
    const onFirstText = (): void => void (firstTokenMs ??= Math.round(performance.now() - startedAt));
    let tries = 1;
    for (;;) {
      const body = exchange.bodyOf(made);
      const ended = await this.attempt(body, exchange, deadline, onFirstText);
      if ('reply' in ended) {
        this.beganInThinking.set(model, ended.beganInThinking);
        for (const concession of now) if (!ofConversation.has(concession)) this.concessions.confirm(model, concession);
        const usage = priced(addUsage(spent, ended.reply.usage), price);
        return { ...ended.reply, body: ended.body, usage, firstTokenMs, durationMs: Math.round(performance.now() - startedAt) };
      }
      spent = addUsage(spent, ended.spent);
      const { fault } = ended;
      if (signal.aborted) throw withContext(new Failure('CALL_CANCELLED'), spent, price);
      const concession =
        ended.streamed || fault.failure.code === 'CONTEXT_OVERFLOW'
          ? null
          : concessionFor(fault.status, fault.said, body, made, exchange.isFormatWished);
      if (concession && exchange.mayConcede(concession)) {
        made.add(concession);
        now.push(concession);
        continue;
      }
      if (ended.streamed || !fault.again || tries >= Math.min(this.retry.attempts, exchange.attempts))
        throw withContext(exchange.passed ? asRefused(fault, this.config.api_key) : failureOf(ended), spent, price);
      const waitMs = backOffMs(tries + 1, fault.afterMs, this.retry);
      if (waitMs > this.retry.longest_wait_ms || performance.now() + waitMs >= deadline) throw withContext(fault.failure, spent, price);
      tries += 1;
      exchange.onRetry?.({ attempt: tries, afterMs: waitMs, code: fault.failure.code });
      await pause(waitMs, signal);
    }
  }

  private async attempt(body: CompletionBody, exchange: Exchange, deadline: number, onFirstText: () => void): Promise<Attempted> {
    const { signal, onDelta, passed, estimatedPrompt } = exchange;
    const reader = new ReplyReader(
      this.name,
      { onDelta, onFirstText, ...(passed ? { passed } : {}) },
      !passed && this.expectsThinking(body.model),
    );
    const said = { ...this.config, ...exchange.known };
    const timeouts = { ...this.timeouts, ...(said.idle_ms === undefined ? {} : { idle_ms: said.idle_ms }) };
    const firstTokenMs = said.first_token_ms ?? (this.config.local ? null : timeouts.first_token_ms);
    const watchdog = new Watchdog(signal, deadline - performance.now(), body.stream ? firstTokenMs : null, timeouts);
    let started = false;
    const isSent = !signal.aborted;
    try {
      await attempt(this, body, reader, watchdog, () => (started = true));
    } catch (error) {
      if (watchdog.cut !== 'usage') {
        const secrets = { prompts: exchange.prompts, key: this.config.api_key };
        const failure = watchdog.failure(this.name);
        const fault = failure ? notAgain(failure) : faultOf(error, this.name, started, secrets, Date.now());
        // A server that we gave up on has read the prompt all the same; one that refused has not used it.
        const isUsed = started || (failure !== null && isSent);
        return { fault, spent: isUsed ? reader.spent(estimatedPrompt) : { ...noUsage, calls: 1 }, streamed: reader.streamed };
      }
    } finally {
      watchdog.close();
    }
    // An aborted stream may end without an error.
    const failure = watchdog.failure(this.name);
    if (failure) return { fault: notAgain(failure), spent: reader.spent(estimatedPrompt), streamed: reader.streamed };
    const reply = reader.reply(estimatedPrompt);
    return { reply, body: reader.body, beganInThinking: reader.beganInThinking };
  }
}

/**
 * What a request of a client may lose besides what we added ourselves: the place of instructions, the borders of messages that follow each
 * other, the thinking of earlier turns, the ids of calls and their signatures, what its tools showed to a model that cannot see, and a hint
 * on calls of tools, which agents send to every model.
 */
const ofPassed: ReadonlySet<Concession> = new Set([
  'one system message',
  'no system message',
  'turns that alternate',
  'no earlier thinking',
  'a reply after results',
  'short ids of calls',
  'no files of tools',
  'no signatures of calls',
  'placeholders for missing signatures',
  'placeholders for signatures',
  'no parallel_tool_calls',
]);

/** What a server refuses in one conversation, and accepts in others. */
const ofConversation: ReadonlySet<Concession> = new Set(['placeholders for signatures']);

/** Number of leading characters of an image or file that a server might quote. */
const quoted = 4_000;

/** Parts of a message that must not appear in an error message: its text, and the start of its images and files. */
const textsOf = ({ content, parts }: CallMessage): readonly string[] => [content, ...(parts ?? []).flatMap(stringsIn)];
const stringsIn = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? value.length < 16
      ? []
      : [value.slice(0, quoted)]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(stringsIn)
      : [];

/** A failure of the server in the middle of its reply counts as a broken stream: the caller may retry that, unlike a refusal. */
const failureOf = ({ fault: { failure, again }, streamed }: Extract<Attempted, { fault: FailedAttempt }>): Failure =>
  streamed && again && failure.code === 'PROVIDER_FAILED'
    ? new Failure('PROVIDER_STREAM_BROKEN', failure.detail, failure.options)
    : failure;

/** Our own timeouts are not retried: a hanging server would only get more work. */
const notAgain = (failure: Failure): FailedAttempt => ({
  failure,
  again: false,
  afterMs: null,
  status: null,
  said: { message: '', type: '', code: '', param: '' },
});

const priced = (usage: Usage, price: ModelPrice | null): Usage =>
  price ? { ...usage, cost: (usage.prompt * price.input + usage.completion * price.output) / 1_000_000 } : usage;

const withContext = (failure: Failure, spent: Usage, price: ModelPrice | null): Failure =>
  new Failure(failure.code, failure.detail, {
    ...failure.options,
    context: { ...failure.options.context, usage: priced(spent, price), attempts: spent.calls },
  });
