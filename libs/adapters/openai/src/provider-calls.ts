import { estimatePrompt, addUsage, Failure, noUsage, type Usage } from '@conclave/contracts';
import type { CallMessage, CallWatch, ModelCall, ModelReply } from '@conclave/ports';
import type { OpenAI } from 'openai';
import { attempt } from './attempt.js';
import { CallSlots } from './call-slots.js';
import { bodyOf, concessionFor, type Concession } from './concessions.js';
import { defaultConcurrency, type CallTimeouts, type ModelPrice, type ProviderConfig, type RetrySettings } from './configuration.js';
import { clientFor } from './provider-client.js';
import { ReplyReader } from './reply-reader.js';
import { backOffMs, pause } from './retry.js';
import { faultOf, type Fault } from './upstream-failure.js';
import { Watchdog } from './watchdog.js';

/** How one attempt ended. */
type Attempted =
  { readonly reply: ReturnType<ReplyReader['reply']> } | { readonly fault: Fault; readonly spent: Usage; readonly streamed: boolean };

/** Calls to one provider: slots, attempts, back-off. What a server refuses is remembered per model. */
export class ProviderCalls {
  readonly client: OpenAI;
  readonly maxConcurrency: number;
  private readonly slots: CallSlots;
  private readonly concessions = new Map<string, Set<Concession>>();

  constructor(
    readonly name: string,
    readonly config: ProviderConfig,
    private readonly timeouts: CallTimeouts,
    private readonly retry: RetrySettings,
  ) {
    this.client = clientFor(config);
    this.maxConcurrency = config.max_concurrency ?? defaultConcurrency(config.local);
    this.slots = new CallSlots(this.maxConcurrency);
  }

  /**
   * One call with its repetitions. The clock of the call starts when it has its slot: waiting in line is bounded by the signal.
   * `usage.calls` of the reply counts every attempt; a Failure carries `usage` and `attempts` in its context.
   */
  async call(model: string, call: ModelCall, price: ModelPrice | null, watch: CallWatch): Promise<ModelReply> {
    const giveBack = await this.slots.take(watch.signal);
    try {
      return await this.withSlot(model, call, price, watch);
    } finally {
      giveBack();
    }
  }

  private async withSlot(model: string, call: ModelCall, price: ModelPrice | null, watch: CallWatch): Promise<ModelReply> {
    const startedAt = performance.now();
    const deadline = startedAt + Math.min(call.timeoutMs, this.config.timeout_ms ?? Infinity);
    const made = this.concessionsOf(model);
    let spent = noUsage;
    let firstTokenMs: number | null = null;
    const onFirstText = (): void => void (firstTokenMs ??= Math.round(performance.now() - startedAt));
    let tries = 1;
    for (;;) {
      const body = bodyOf(call, model, made);
      const ended = await this.attempt(body, call, deadline, watch, onFirstText);
      if ('reply' in ended) {
        const usage = priced(addUsage(spent, ended.reply.usage), price);
        return { ...ended.reply, usage, firstTokenMs, durationMs: Math.round(performance.now() - startedAt) };
      }
      spent = addUsage(spent, ended.spent);
      const { fault } = ended;
      if (watch.signal.aborted) throw withContext(new Failure('CALL_CANCELLED'), spent, price);
      const concession =
        ended.streamed || fault.failure.code === 'CONTEXT_OVERFLOW' ? null : concessionFor(fault.status, fault.said, body, made);
      if (concession) {
        made.add(concession);
        continue;
      }
      if (ended.streamed || !fault.again || tries >= Math.min(this.retry.attempts, call.attempts ?? Infinity))
        throw withContext(fault.failure, spent, price);
      const waitMs = backOffMs(tries + 1, fault.afterMs, this.retry);
      if (waitMs > this.retry.longest_wait_ms || performance.now() + waitMs >= deadline) throw withContext(fault.failure, spent, price);
      tries += 1;
      watch.onRetry?.({ attempt: tries, afterMs: waitMs, code: fault.failure.code });
      await pause(waitMs, watch.signal);
    }
  }

  private async attempt(
    body: ReturnType<typeof bodyOf>,
    call: ModelCall,
    deadline: number,
    watch: CallWatch,
    onFirstText: () => void,
  ): Promise<Attempted> {
    const reader = new ReplyReader(this.name, watch.onDelta, onFirstText);
    const estimatedPrompt = estimatePrompt(call.messages);
    const firstTokenMs = this.config.local || !body.stream ? null : this.timeouts.first_token_ms;
    const watchdog = new Watchdog(watch.signal, deadline - performance.now(), firstTokenMs, this.timeouts);
    let started = false;
    try {
      await attempt(this.client, this.name, body, reader, watchdog, () => (started = true));
    } catch (error) {
      if (watchdog.cut !== 'usage') {
        const secrets = { prompts: call.messages.flatMap(textsOf), key: this.config.api_key };
        const failure = watchdog.failure(this.name);
        const fault = failure ? notAgain(failure) : faultOf(error, this.name, started, secrets, Date.now());
        return { fault, spent: started ? reader.spent(estimatedPrompt) : { ...noUsage, calls: 1 }, streamed: reader.streamed };
      }
    } finally {
      watchdog.close();
    }
    // The client library ends a stream without an error when it is aborted.
    const failure = watchdog.failure(this.name);
    if (failure) return { fault: notAgain(failure), spent: reader.spent(estimatedPrompt), streamed: reader.streamed };
    return { reply: reader.reply(estimatedPrompt) };
  }

  private concessionsOf(model: string): Set<Concession> {
    let made = this.concessions.get(model);
    if (!made) this.concessions.set(model, (made = new Set()));
    return made;
  }
}

/** Characters of an image or file that a server may quote. */
const quoted = 4_000;

/** Everything of a message that must not appear in a sentence: its text, and how its images and files begin. */
const textsOf = ({ content, parts }: CallMessage): readonly string[] => [content, ...(parts ?? []).flatMap(stringsIn)];
const stringsIn = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? value.length < 16
      ? []
      : [value.slice(0, quoted)]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(stringsIn)
      : [];

/** What we broke off ourselves is not tried again: a server that hangs would only get more to do. */
const notAgain = (failure: Failure): Fault => ({
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
