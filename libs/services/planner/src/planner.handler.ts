import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  addUsage,
  Failure,
  makeEvent,
  noUsage,
  PlanCreated,
  planId,
  type Event,
  type GapDetected,
  type PlanRequested,
} from '@conclave/contracts';
import { fallbackTasks } from '@conclave/loop';
import { EventPattern, METRICS, type DeliveryContext, type Metrics } from '@conclave/platform';
import {
  defer,
  EMBEDDER,
  GRAPH,
  RUN_STREAM,
  SEARCH,
  STATE,
  VECTORS,
  type DeadReason,
  type Embedder,
  type HandlerOutcome,
  type KnowledgeGraph,
  type Search,
  type StateStore,
  type Vectors,
} from '@conclave/ports';
import {
  abortRun,
  askModels,
  CALL_MAKER,
  insteadOf,
  promptDetail,
  thinkAloud,
  type Calls,
  type ShownIn,
  type ThoughtLine,
  type WorkState,
} from '@conclave/calls';
import { plannerPrompt, readPlan, reAskPlan, withVision, type PlanReply } from '@conclave/strategies';
import { type Random } from './thompson.js';
import type { z } from 'zod';
import { levelOf, lowered, needsDocument, raised, trivialTask } from './level.js';
import { Lookup, withLearned } from './lookup.js';
import { ModelChoices } from './model-choices.js';
import { mayCachePlan, PlanCache } from './plan-cache.js';

/** Tries of one plan: the first and two re-asks with what was wrong. */
const tries = 3;
/** Calls one try may cost: its model with two repeats, and one fallback. */
const callsPerTry = 4;

/** Chance, as the draws among models take it. */
export const RANDOM = Symbol('Random');

/** All of the state that a planner looks at. */
export type PlannerState = WorkState & {
  readonly caches: Pick<StateStore['caches'], 'read' | 'write'>;
  readonly scores: Pick<StateStore['scores'], 'read'>;
};

const planningLine = (model: string, complexity: string, closesGap: boolean, tried: number): string =>
  tried > 0
    ? `${model} is asked for the plan again (attempt ${tried + 1} of ${tries})`
    : closesGap
      ? `${model} plans how to close the gap`
      : `${model} makes the plan of a ${complexity} question`;

/** Whether a plan can be used; of one that cannot, what is wrong with it. */
function resultLine(plan: PlanReply, tried: number): string {
  if (plan.ok) return 'The plan has come';
  const why = plan.faults[0] ?? '';
  return `The plan could not be used (attempt ${tried + 1} of ${tries}): ${why.charAt(0).toLowerCase()}${why.slice(1)}`;
}

type PlanDraft = z.input<(typeof PlanCreated)['schema']>;

/** A plan of which nothing is known yet. */
const blank = { tasks: [], searchQuestion: null, fallback: false, reAsks: 0, failure: null, usage: noUsage };

/** A reply that could not be used, and why. */
interface Asked {
  readonly reply: string;
  readonly faults: readonly string[];
}
/** Tokens that a reply which is shown again, with its faults, may take. */
const reAskTokens = 1_500;

/** Splits a goal into tasks; on a gap, makes the plan of the next round. One plan per epoch, whoever makes it. */
@Controller()
export class PlannerHandler {
  private readonly plans: PlanCache;
  private readonly choices: ModelChoices;
  private readonly lookup: Lookup;

  constructor(
    @Inject(STATE) private readonly state: PlannerState,
    @Inject(CALL_MAKER) private readonly maker: Calls,
    @Inject(RUN_STREAM) private readonly stream: ShownIn,
    @Inject(METRICS) private readonly metrics: Pick<Metrics, 'count'>,
    @Inject(RANDOM) random: Random,
    @Inject(SEARCH) search: Search | null = null,
    @Inject(GRAPH) graph: KnowledgeGraph | null = null,
    @Inject(VECTORS) vectors: Vectors | null = null,
    @Inject(EMBEDDER) embedder: Embedder | null = null,
  ) {
    this.plans = new PlanCache(state.caches, maker);
    this.choices = new ModelChoices(state.scores, maker, random);
    this.lookup = new Lookup({ search, graph, vectors, embedder }, maker);
  }

  @EventPattern('PlanRequested')
  async onRequest(@Payload() event: PlanRequested, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    // A run that a cache has answered is over with its first step.
    if (event.data.cached) return [];
    return this.plan(event, event.data, null, context.signal);
  }

  @EventPattern('GapDetected')
  async onGap(@Payload() event: GapDetected, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    const header = await this.state.runs.header(event.runId);
    if (!header) throw new Failure('RUN_NOT_FOUND', `The header of ${event.runId} is not in the state store.`);
    return this.plan(event, header.data, event.data, context.signal);
  }

  @EventPattern('dead:PlanRequested')
  onDeadRequest(@Payload() dead: { event: Event; reason: DeadReason }): Promise<readonly Event[]> {
    return abortRun(dead.event, this.state, dead.reason);
  }

  @EventPattern('dead:GapDetected')
  onDeadGap(@Payload() dead: { event: Event; reason: DeadReason }): Promise<readonly Event[]> {
    return abortRun(dead.event, this.state, dead.reason);
  }

  private async plan(
    event: Event,
    request: PlanRequested['data'],
    gap: GapDetected['data'] | null,
    signal: AbortSignal,
  ): Promise<HandlerOutcome> {
    const { runId } = event;
    const epoch = gap ? gap.epoch + 1 : 0;
    const owner = planId(runId, epoch);
    const now = await this.state.now();
    const timeoutMs = request.template.planning_timeout_s * 1000;
    if (!(await this.state.journal.started(owner)) && !(await this.isAwaited(event, now, timeoutMs))) return [];
    const deadline = now + timeoutMs;
    const look = { runId, owner, deadline, signal };
    const inWords = levelOf(request);
    const question = gap ? [gap.nextFocus, gap.gap].find((text) => text !== '') || request.goal : request.goal;
    const isInDoubt = inWords.complexity === 'trivial' && gap === null;
    const isLost = gap === null && !this.lookup.searchesWeb(request) && needsDocument(request, inWords);
    const where = isLost ? 'anywhere' : isInDoubt ? 'everywhere' : 'learned';
    const looked = isInDoubt && inWords.lookUp === null ? null : await this.lookup.look(look, request, question, where);
    if (looked?.kind === 'busy') return defer(looked.retryInMs);
    if (looked?.kind === 'cancelled') return looked.records;
    const seen = looked?.value ?? null;
    const level = isInDoubt ? raised(inWords, seen, this.lookup.searchesWeb(request)) : isLost ? lowered(inWords, seen) : inWords;
    const offersLearned = seen?.learned === true;
    /** The plan as an event, with the order of its models. */
    const planned = async (draft: PlanDraft, made: readonly Event[] = []): Promise<HandlerOutcome> => {
      const drawn = await this.choices.draw(look, draft.tasks, request);
      if (drawn?.kind === 'busy') return defer(drawn.retryInMs);
      const records = [...(looked?.records ?? []), ...made, ...(drawn?.records ?? [])];
      if (drawn?.kind === 'cancelled') return records;
      const tasks = offersLearned && level.complexity !== 'trivial' ? [...withLearned(draft.tasks, gap ? question : null)] : draft.tasks;
      return [this.created(runId, { ...draft, tasks, choices: drawn?.value ?? {} }), ...records];
    };
    if (level.complexity === 'trivial' && gap === null)
      return planned({ ...blank, ...level, epoch, tasks: [trivialTask(request, level.category)] });
    const left = gap?.left ?? { model_calls: request.limits.model_calls, tokens: request.limits.tokens };
    const records: Event[] = [];
    const isCacheable = gap === null && mayCachePlan(request);
    if (isCacheable) {
      const found = await this.plans.find(look, request);
      if (found.kind === 'busy') return defer(found.retryInMs);
      records.push(...found.records);
      if (found.kind === 'cancelled') return [...(looked?.records ?? []), ...records];
      this.metrics.count(found.value ? 'cache_hits_total' : 'cache_misses_total', { cache: 'plan' });
      if (found.value) {
        await this.show(runId, owner, 1, request, [
          { n: 0, code: 'planner.result', text: 'The plan comes from the plan cache', detail: JSON.stringify(found.value.tasks) },
        ]);
        return planned({ ...blank, ...found.value, safety: level.safety, epoch, cached: true }, records);
      }
    }
    let usage = noUsage;
    let asked: readonly Asked[] = [];
    let shownAttempt = 1;
    for (let tried = 0; tried < tries; tried += 1) {
      const answered = await askModels(this.maker, {
        runId,
        owner,
        purpose: 'plan',
        models: request.template.planner.models,
        messages: (promptTokens) =>
          asked.reduce(
            (messages, { reply, faults }) => reAskPlan(messages, reply, faults),
            plannerPrompt(request, gap, promptTokens - asked.length * reAskTokens, level.complexity),
          ),
        contexts: request.template.contexts,
        temperature: 0,
        deadline,
        calls: Math.min(callsPerTry, left.model_calls - usage.calls),
        tokens: left.tokens - usage.prompt - usage.completion,
        cost: request.limits.cost,
        prices: request.template.prices,
        signal,
        firstIndex: tried * callsPerTry,
        onBegun: (attempt, model, messages, before) => {
          shownAttempt = attempt;
          const text = `${planningLine(model, level.complexity, gap !== null, tried)}${insteadOf(before)}`;
          return this.show(runId, owner, attempt, request, [{ n: 0, code: 'planner.prompt', text, detail: promptDetail(messages) }]);
        },
      });
      if (answered.kind === 'busy') return defer(answered.retryInMs);
      records.push(...answered.records);
      usage = addUsage(usage, answered.usage);
      if (answered.kind === 'cancelled') return [...(looked?.records ?? []), ...records];
      if (answered.kind === 'failed') {
        const text = `No plan came: ${answered.failure.message}`;
        await this.show(runId, owner, Math.max(shownAttempt, answered.attempt), request, [{ n: 1, code: 'planner.result', text }]);
        return [
          this.created(runId, { ...blank, ...level, epoch, reAsks: tried, failure: answered.failure, usage }),
          ...(looked?.records ?? []),
          ...records,
        ];
      }
      const plan = readPlan(answered.reply.content, request.template, request.goal, level.complexity);
      await this.show(runId, owner, answered.attempt, request, [
        { n: 1, code: 'planner.result', text: resultLine(plan, tried), detail: answered.reply.content },
      ]);
      if (plan.ok) {
        const { searchQuestion } = plan;
        const tasks = [...(gap === null ? withVision(plan.tasks, request, level.complexity) : plan.tasks)];
        if (isCacheable)
          await this.plans.keep(runId, request, { complexity: level.complexity, signals: level.signals, tasks, searchQuestion });
        return planned({ ...blank, ...level, epoch, tasks, searchQuestion, reAsks: tried, usage }, records);
      }
      asked = [...asked, { reply: answered.reply.content, faults: plan.faults }];
    }
    const fallback = fallbackTasks(request.goal);
    const tasks = [...(gap === null ? withVision(fallback, request, level.complexity) : fallback)];
    return planned({ ...blank, ...level, epoch, tasks, fallback: true, reAsks: tries - 1, usage }, records);
  }

  /** Old work is not done again: a run that is over or flagged, and a plan whose time has passed, need no call. */
  private async isAwaited(event: Event, now: number, timeoutMs: number): Promise<boolean> {
    if (await this.maker.cancels.isCancelled([event.runId])) return false;
    if (event.type === 'GapDetected') return now < event.time + timeoutMs;
    // The engine may hear of a run later than the planner; once it is past planning, the first plan is not awaited any more.
    const run = await this.state.runs.read(event.runId);
    return run === null || run.status === 'planning';
  }

  private show(
    runId: string,
    owner: string,
    attempt: number,
    request: PlanRequested['data'],
    lines: readonly ThoughtLine[],
  ): Promise<void> {
    return thinkAloud(this.stream, { runId, data: { taskId: owner, detail: request.detail ?? 'redacted' } }, attempt, lines);
  }

  private created(runId: string, data: PlanDraft): Event {
    return makeEvent(PlanCreated, { id: planId(runId, data.epoch), runId, source: 'planner', time: Date.now() }, data);
  }
}
