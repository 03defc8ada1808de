import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type ClientToolsAsked, type EngineEntry, Failure, makeEvent, noUsage, PlanRequested, type RunLimits } from '@conclave/contracts';
import { keptEntries } from '@conclave/loop';
import { type TraceContext, traceIdOf, traceIdOfRun, traceparentFor } from '@conclave/platform';
import { EVENT_LOG, type EventLog, STATE, type StateStore } from '@conclave/ports';
import { strategyOf } from '@conclave/strategies';
import pTimeout from 'p-timeout';
import { needOfRun } from '../accounts/needs.js';
import { type PlannedWork, Reservations, type Room } from '../accounts/reservations.js';
import { AnswerCache, cacheHeader } from '../answers/answer-cache.js';
import { Attachments } from '../attachments/attachments.js';
import { applyLimits } from '../chat/chat-request.js';
import { languageOfQuestion } from '../language/question-language.js';
import { ModelDirectory } from '../models/model-directory.js';
import { Health } from '../operations/health.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Connections } from '../stream/connections.js';
import type { CheckedRun, AskedRun, CheckedFork, CheckedRequest } from './checked-request.js';
import { DeliveryTargets } from './delivery-targets.js';
import { ForkLinks } from './fork-links.js';
import { QueueWaits } from './queue-waits.js';

/** Most runs of one retry key that end without an answer before a further run is refused. */
const generations = 8;
/** SDKs retry within their time-outs; after this time, an equal question is a new one. */
const retryWindowMs = 30 * 60_000;
/** Outcomes after which a retry starts a new run. */
const withoutAnswer: ReadonlySet<string> = new Set(['cancelled', 'failed']);
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Called as soon as a run is known, before its event is published. */
type OnKnown = (run: AcceptedRun) => Promise<void>;

export interface AcceptedRun {
  readonly runId: string;
  readonly attached: boolean;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  /** Value of the header `x-conclave-cache` if a cache has answered. */
  readonly cache?: string | undefined;
  /**
   * The entries that the engine will write about the run, if a cache has answered it and this request started it: the client is answered from them
   * immediately, and the run ends through the log some milliseconds later. If it ends otherwise (cancelled meanwhile, or dead-lettered), the record
   * says so, and the client keeps an answer that an earlier run committed.
   */
  readonly kept?: readonly EngineEntry[] | undefined;
}

/**
 * Accepts a question as a run: header and retry mapping first, then the event. The response head comes after both; with a cached
 * answer it waits only for the header, from which a sweep would publish the event if this process died.
 */
@Injectable()
export class Acceptance {
  /** Requests that this process is accepting, by what they ask and who asks; each resolves when it and those before it have ended. */
  private readonly beginning = new Map<string, Promise<unknown>>();

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(Health) private readonly health: Health,
    @Inject(QueueWaits) private readonly waits: QueueWaits,
    @Inject(AnswerCache) private readonly answers: AnswerCache,
    @Inject(Attachments) private readonly attachments: Attachments,
    @Inject(Connections) private readonly connections: Connections,
    @Inject(ModelDirectory) private readonly models: ModelDirectory,
    @Inject(DeliveryTargets) private readonly targets: DeliveryTargets,
    @Inject(Reservations) private readonly reservations: Reservations,
    @Inject(ForkLinks) private readonly links: ForkLinks,
  ) {}

  /**
   * Accepts the question or the fork, or finds the run that it repeats. Throws NOT_READY, RUN_ERASED, OVERLOADED, QUEUE_TOO_LONG, STORE_*; for
   * attachments ATTACHMENT_*, ATTACHMENTS_TOO_LARGE, VISION_MISSING; for a webhook WEBHOOK_UNKNOWN, WEBHOOK_REFUSED; for a limited key
   * RATE_LIMITED, BUDGET_SPENT. Nothing is accepted then. A client that disconnects after `known` was called is reported.
   */
  async accept(asked: CheckedRun, known: OnKnown): Promise<AcceptedRun> {
    const { key, mayAttach } = asked.repeat;
    const before = this.beginning.get(key);
    const accepted = this.accepting(asked, known, mayAttach ? before : undefined);
    const settled = Promise.allSettled([accepted, before]);
    this.beginning.set(key, settled);
    try {
      return await accepted;
    } finally {
      if (this.beginning.get(key) === settled) this.beginning.delete(key);
    }
  }

  /** A retry begins when the requests that it may repeat are accepted or refused: until then none of them can be found. */
  private async accepting(asked: CheckedRun, known: OnKnown, before: Promise<unknown> | undefined): Promise<AcceptedRun> {
    await before;
    await this.health.assertAccepting();
    const { repeat, origin } = asked;
    for (let generation = 0; generation < generations; generation++) {
      const retryKey = generation === 0 ? repeat.key : createHash('sha256').update(`${repeat.key}/${generation}`).digest('hex');
      const earlier = repeat.mayAttach ? await this.repeated(retryKey, asked) : null;
      if (earlier === 'over') continue;
      if (earlier) {
        this.options.metrics.onAttached(origin);
        this.note('attached', earlier.runId);
        await known(earlier);
        return earlier;
      }
      return this.begin(await this.idOf(retryKey, asked), retryKey, asked, known);
    }
    if (!repeat.idempotent) return this.begin(this.newRunId(), null, asked, known);
    throw new Failure('COMMAND_REJECTED', 'Every run of this Idempotency-Key has ended without an answer; use a new key.');
  }

  /**
   * An id for a run that this retry key has not started. Two gateways that receive one request at the same moment create one run: with an
   * Idempotency-Key the id is derived from it; of equal retries without a key, the first claims the id for all.
   */
  protected async idOf(retryKey: string, { repeat, caller }: AskedRun): Promise<string> {
    if (repeat.idempotent) return `run_${retryKey.slice(0, 32)}`;
    const fresh = this.newRunId();
    if (!repeat.mayAttach) return fresh;
    const claim = { tenant: caller.tenant, name: `retry/${retryKey}`, holder: fresh, ttlMs: retryWindowMs };
    return (await this.state.once.claim(claim)).holder;
  }

  protected newRunId(): string {
    return this.options.newRunId?.() ?? randomRunId();
  }

  /** The request of a question, with the cached answer if there is one. */
  private async questioned(asked: CheckedRequest, retryKey: string | null, clientTools?: ClientToolsAsked): Promise<PlanRequested['data']> {
    const { question, caller, origin } = asked;
    const deliver = this.targets.of(question.options.webhook, asked.template, caller.tenant);
    const attachments = await this.attachments.take(question, asked.template, caller.tenant);
    const children = await this.models.startedBy(asked.template, caller.tenant);
    const requestedAt = await this.state.now();
    const language = await languageOfQuestion(question);
    const { template, limits } = applyLimits(asked.template, question.options);
    const { goal, system, answer } = question;
    return this.answers.offered(
      {
        ...{ goal, conversation: [...question.conversation], system, template, limits, caller, answer, origin, requestedAt },
        ...(attachments.length > 0 ? { attachments: [...attachments] } : {}),
        ...(question.documents.length > 0 ? { documents: [...question.documents] } : {}),
        ...(language === null ? {} : { language }),
        ...(question.skill ? { skill: question.skill } : {}),
        ...(question.options.complexity ? { complexity: question.options.complexity } : {}),
        ...(asked.detail === 'full' ? { detail: asked.detail } : {}),
        ...(Object.keys(children).length > 0 ? { children } : {}),
        ...(clientTools ? { clientTools } : {}),
        ...(deliver.length > 0 ? { deliver: [...deliver] } : {}),
        ...(retryKey === null ? {} : { retryKey }),
      },
      // The results of a client's tools and the documents that it quotes make this a different question.
      question.options.cache && !clientTools?.calls.length && question.documents.length === 0,
    );
  }

  private async takenUp(runId: string, asked: CheckedFork, retryKey: string | null): Promise<PlanRequested['data']> {
    const { of, template, caller, origin, detail } = asked;
    await this.links.add(caller.tenant, of, runId);
    const requestedAt = await this.state.now();
    return {
      ...asked.begins(runId),
      ...{ template, caller, origin, requestedAt },
      ...(detail === 'full' ? { detail } : {}),
      ...(retryKey === null ? {} : { retryKey }),
    };
  }

  private async begin(runId: string, retryKey: string | null, asked: CheckedRun, known: OnKnown): Promise<AcceptedRun> {
    this.admit(asked, runId);
    const header = await this.reserved(runId, retryKey, asked);
    const begin = (): Promise<AcceptedRun> => this.begun(header, asked, known);
    return 'question' in asked && asked.askTools ? afterPaying(begin) : begin();
  }

  private async begun(header: PlanRequested, asked: CheckedRun, known: OnKnown): Promise<AcceptedRun> {
    const { origin } = asked;
    const { runId, traceparent } = header;
    const { template, requestedAt } = header.data;
    this.options.probe?.reached('gateway', 'after-accept', runId);
    const accepted = asked.repeat.mayAttach ? await this.firstOf(header) : header;
    const kept = keptEntries(accepted, strategyOf) ?? undefined;
    const run: AcceptedRun = { runId, attached: false, requestedAt, cache: cacheOf(accepted), kept };
    this.options.metrics.onAccepted({ template: template.id, origin });
    this.options.logger.info('run accepted', { run: runId, trace: traceIdOf(traceparent), template: template.id, origin });
    this.note('accepted', runId);
    await known(run);
    const published = this.publish(accepted).then(() => this.options.probe?.reached('gateway', 'after-publish', runId));
    if (kept) this.connections.track(published);
    else await published;
    return run;
  }

  /** Stores the request of a run within the limits of its key. Throws what `accept` throws; then nothing stays reserved. */
  private async reserved(runId: string, retryKey: string | null, asked: CheckedRun): Promise<PlanRequested> {
    const plan = (): PlannedWork => ({
      ...{ runId, sort: 'run', kind: asked.template.id },
      ...needOfRun(asked.template, this.limits.reserveTokens),
    });
    const room = asked.request ? await this.reservations.reserve(asked.request, asked.caller.user, plan) : null;
    const askTools = 'question' in asked ? asked.askTools : undefined;
    let clientTools: ClientToolsAsked | undefined;
    try {
      if (!askTools) return await this.stored(runId, retryKey, asked, room);
      // A request that is refused afterwards must not be charged.
      const open = await this.state.runs.openCount();
      if (open >= this.limits.openRuns) throw this.overloaded(runId, open);
      clientTools = await askTools(runId);
      return await afterPaying(() => this.stored(runId, retryKey, asked, room, clientTools));
    } catch (error) {
      await this.reservations.settle(runId, clientTools?.usage ?? noUsage);
      throw error;
    }
  }

  private async stored(
    runId: string,
    retryKey: string | null,
    asked: CheckedRun,
    room: Room | null,
    clientTools?: ClientToolsAsked,
  ): Promise<PlanRequested> {
    const all = 'question' in asked ? await this.questioned(asked, retryKey, clientTools) : await this.takenUp(runId, asked, retryKey);
    const { trace } = asked;
    const data = { ...all, ...(room ? { limits: within(room, all.limits) } : {}), ...(trace ? { parentSpan: trace.spanId } : {}) };
    const traceparent = traceparentFor({ id: runId, runId }, this.traceFor(runId, trace));
    const header = makeEvent(PlanRequested, { id: runId, runId, source: 'gateway', time: data.requestedAt, traceparent }, data);
    const outcome = await this.state.runs.accept({ header, retryKey, openLimit: this.limits.openRuns });
    if (outcome.kind === 'accepted') return header;
    if (outcome.kind === 'erased') throw erasedBefore();
    throw this.overloaded(runId, outcome.open);
  }

  /** The trace of a run, and whether it is recorded: every later event of the run repeats it. */
  private traceFor(runId: string, client: TraceContext | undefined): Pick<TraceContext, 'traceId' | 'sampled'> {
    const traceId = client?.traceId ?? traceIdOfRun(runId);
    return { traceId, sampled: this.options.tracer?.samples(traceId, client) ?? client?.sampled ?? true };
  }

  /** Two gateways that receive one request at the same moment may find different answers: the header stored first is the run. */
  private async firstOf(header: PlanRequested): Promise<PlanRequested> {
    return (await this.state.runs.header(header.runId)) ?? header;
  }

  private overloaded(runId: string, open: number): Failure {
    this.note('refused', runId, { code: 'OVERLOADED' });
    return new Failure('OVERLOADED', `${open} runs are open.`, { retryAfterMs: this.limits.retryAfterS * 1000 });
  }

  /** Throws QUEUE_TOO_LONG when the workers are too far behind for a new run. */
  private admit({ template }: AskedRun, runId: string): void {
    try {
      this.waits.assertShort(template);
    } catch (error) {
      this.note('refused', runId, { code: error instanceof Failure ? error.code : 'INTERNAL' });
      throw error;
    }
  }

  /**
   * An accepted run is always carried out: if its event cannot be published now, a sweep publishes it from the header, and the client has its
   * stream meanwhile.
   */
  private async publish(header: PlanRequested): Promise<void> {
    const published = this.log.publish([header]).then(
      () => this.note('published', header.runId),
      (error: unknown) =>
        this.options.logger.warn('an accepted run could not be published; the sweep will publish it', { run: header.runId, error }),
    );
    await pTimeout(published, { milliseconds: this.limits.publishMs, fallback: () => undefined });
  }

  /** The run of this retry key if it can still return an answer; `over` if it cannot, or if the request is no longer a retry. */
  private async repeated(retryKey: string, { caller, repeat }: AskedRun): Promise<AcceptedRun | 'over' | null> {
    const runId = await this.state.runs.findRetry(retryKey);
    if (runId === null) return null;
    const header = await this.state.runs.header(runId);
    const erased = header ? null : await this.state.runs.erased(runId);
    if (erased && erased.tenant === caller.tenant) {
      if (repeat.idempotent || (await this.state.now()) - erased.requestedAt <= retryWindowMs) throw erasedBefore();
      return 'over';
    }
    if (!header || header.data.caller.tenant !== caller.tenant) return null;
    const { requestedAt } = header.data;
    let stored = await this.state.runs.read(runId);
    const cancelled = !stored?.terminal && (await this.state.runs.cancelled([runId])).has(runId);
    // An ended run is flagged like a cancelled one: it may have ended between the two reads.
    if (cancelled) stored = await this.state.runs.read(runId);
    const ended = stored?.terminal ?? false;
    const without = ended ? withoutAnswer.has(stored!.status) : cancelled;
    const stale = ended && !repeat.idempotent && (await this.state.now()) - requestedAt > retryWindowMs;
    return without || stale ? 'over' : { runId, attached: true, requestedAt, cache: cacheOf(header) };
  }

  private note(phase: 'accepted' | 'attached' | 'published' | 'refused', runId: string, data?: unknown): void {
    this.options.probe?.note({ actor: 'gateway', op: 'run', phase, id: runId, data });
  }
}

const erasedBefore = (): Failure =>
  new Failure('RUN_ERASED', 'This request repeats one whose run was deleted. Send it with another Idempotency-Key to ask again.');

/** Marks a failure as one after which the tool model has been paid. */
async function afterPaying<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Failure) throw new Failure(error.code, error.detail, { ...error.options, paid: true });
    throw error;
  }
}

const cacheOf = ({ data: { cached } }: PlanRequested): string | undefined => (cached ? cacheHeader(cached) : undefined);

/** A run gets at most what is left of the budgets of its key. */
const within = ({ tokens, cost }: Room, limits: RunLimits): RunLimits => ({
  ...limits,
  tokens: Math.min(limits.tokens, Math.max(1, tokens ?? limits.tokens)),
  cost: cost === null ? limits.cost : Math.min(cost, limits.cost ?? cost),
});

/** 24 letters and digits, about 143 bits. */
export function randomRunId(): string {
  let id = 'run_';
  while (id.length < 28)
    for (const byte of randomBytes(32)) if (byte < letters.length * 4 && id.length < 28) id += letters[byte % letters.length];
  return id;
}
