import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Failure,
  makeEvent,
  noUsage,
  PlanCreated,
  planId,
  promptMarks,
  type Event,
  type Allowance,
  type GapDetected,
  type PlanRequested,
} from '@conclave/contracts';
import { clientToolsRef, firstPlanAsked, StrategyFault } from '@conclave/loop';
import { EventPattern, type DeliveryContext } from '@conclave/platform';
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
  AwaitedStrategies,
  CALL_MAKER,
  insteadOf,
  performAsk,
  type AskedFor,
  promptDetail,
  saidOf,
  appendThoughts,
  type Calls,
  type ShownIn,
  type ThoughtLine,
  type Try,
  type WorkState,
  waitingN,
} from '@conclave/calls';
import {
  earlierQuestions,
  fallbackTasks,
  planAsk,
  searchTextOf,
  strategyOf,
  trivialTask,
  withVision,
  type Ask,
  type AskingStrategy,
  type PlanAsked,
  type PlanSaid,
  type TakenValue,
} from '@conclave/strategies';
import { AwaitedPlan } from './awaited-plan.js';
import { KnownRequests } from './known-requests.js';
import { type RandomSource } from './thompson.js';
import type * as z from 'zod';
import { valuesTaken } from './taken-values.js';
import { levelOf, lowerLevel, needsDocument, raiseLevel } from './level.js';
import { Lookup, withLearned } from './lookup.js';
import { ModelChoices } from './model-choices.js';
import { planAllowance } from './plan-allowance.js';

/** Most calls of one try: its model with two repeats, and one fallback. */
const callsPerTry = 4;

/** Random source for the draws among models. */
export const RANDOM = Symbol('Random');

/** The state that a planner reads. */
export type PlannerState = WorkState & {
  readonly scores: Pick<StateStore['scores'], 'read'>;
  readonly caches: Pick<StateStore['caches'], 'read'>;
};

const planningLine = (model: string, complexity: string, closesGap: boolean, { n, of }: Try): string =>
  n > 1
    ? `${model} is asked for the plan again (attempt ${n} of ${of})`
    : closesGap
      ? `${model} plans how to close the gap`
      : `${model} makes the plan of a ${complexity} question`;

/** A line that says whether a plan is usable and, if not, what is wrong with it. */
function resultLine([why]: readonly string[], { n, of }: Try): string {
  if (why === undefined) return 'The plan has arrived';
  return `The plan was invalid (attempt ${n} of ${of}): ${why.charAt(0).toLowerCase()}${why.slice(1)}`;
}

const ownPlanLine = (model: string, epoch: number, { n, of }: Try): string =>
  n > 1 ? `${model} is asked for the plan again (attempt ${n} of ${of})` : `${model} makes plan ${epoch + 1}`;

/** A plan that the engine awaits. */
interface Planning {
  readonly runId: string;
  /** Owner of its calls. */
  readonly owner: string;
  readonly epoch: number;
  readonly request: PlanRequested['data'];
  /** Null for the first plan. */
  readonly gap: GapDetected['data'] | null;
  /** What the plan may use of the run's budget. */
  readonly allowance: Allowance;
  /** Guidance that the user gave before, also if the plan is the first of a strategy that took over the run. */
  readonly userInputs: readonly string[];
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly wanted: AwaitedPlan;
}

type PlanDraft = z.input<(typeof PlanCreated)['schema']>;

/** The request of a run that waited for tools of its client: its first plan gets their results as turns of the conversation. */
function withClientResults(request: PlanRequested['data'], { runId, data: { memory } }: GapDetected): PlanRequested['data'] {
  const results = memory.facts.filter(({ taskId }) => taskId === clientToolsRef(runId));
  const turns = results.map(({ text }) => ({ role: 'assistant' as const, content: `${promptMarks.clientTool}\n${text}` }));
  return turns.length === 0 ? request : { ...request, conversation: [...request.conversation, ...turns] };
}

/** How many questions before a follow-up are looked up with it. */
const lookedBefore = 2;
/** Capabilities that accept any text as a search query. */
const searchesByText = ['research', 'collections'] as const;

/** An empty plan, before its reply is read. */
const blank = { tasks: [], searchQuestion: null, fallback: false, reAsks: 0, failure: null, usage: noUsage };

/** Splits a goal into tasks; on a gap, plans the next round. There is one plan per epoch, whichever planner makes it. */
@Controller()
export class PlannerHandler {
  private readonly requests = new KnownRequests();
  private readonly choices: ModelChoices;
  private readonly lookup: Lookup;
  private readonly strategies: AwaitedStrategies;

  constructor(
    @Inject(STATE) private readonly state: PlannerState,
    @Inject(CALL_MAKER) private readonly maker: Calls,
    @Inject(RUN_STREAM) private readonly stream: ShownIn,
    @Inject(RANDOM) random: RandomSource,
    @Inject(SEARCH) search: Search | null = null,
    @Inject(GRAPH) graph: KnowledgeGraph | null = null,
    @Inject(VECTORS) vectors: Vectors | null = null,
    @Inject(EMBEDDER) embedder: Embedder | null = null,
  ) {
    this.strategies = new AwaitedStrategies(state);
    this.choices = new ModelChoices(state.scores, maker, random);
    this.lookup = new Lookup({ search, graph, vectors, embedder }, maker);
  }

  @EventPattern('PlanRequested')
  async onRequest(@Payload() event: PlanRequested, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    // A run that a cache has answered, or that begins without a planner, awaits no plan in its first step.
    let first: ReturnType<typeof firstPlanAsked>;
    try {
      first = firstPlanAsked(event, strategyOf);
    } catch (error) {
      if (!(error instanceof StrategyFault)) return this.strategies.defer(error, event, context.logger);
      const failure = { code: 'STRATEGY_FAILED', message: error.message, retriable: false };
      const { safety } = levelOf(event.data);
      return [this.created(event.runId, { ...blank, complexity: 'moderate', safety, epoch: 0, failure })];
    }
    if (!first) return [];
    this.requests.add(event.runId, event.data);
    const planning = await this.begun(event, event.data, null, first, context.signal);
    const { planAsk, planTakes } = strategyOf(first.strategy);
    return planAsk ? this.planByOwnAsk(planning, { planAsk, planTakes }, first.asked ?? {}) : this.plan(planning);
  }

  @EventPattern('GapDetected')
  async onGap(@Payload() event: GapDetected, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    const asked = this.requests.get(event.runId) ?? (await this.state.runs.header(event.runId))?.data;
    if (!asked) throw new Failure('RUN_NOT_FOUND', `The header of ${event.runId} is not in the state store.`);
    const gap = event.data;
    const request = gap.first ? withClientResults(asked, event) : asked;
    const { left, strategy = request.template.strategy } = gap;
    let own: ReturnType<typeof strategyOf>;
    try {
      own = strategyOf(strategy);
    } catch (error) {
      return this.strategies.defer(error, event, context.logger);
    }
    const planning = await this.begun(event, request, gap, { left, strategy }, context.signal);
    const { planAsk, planTakes } = own;
    if (planAsk) return this.planByOwnAsk(planning, { planAsk, planTakes }, gap.asked ?? {});
    // The first plan of a strategy that took over the run is not for a gap.
    return this.plan(gap.first ? { ...planning, gap: null } : planning);
  }

  @EventPattern('dead:PlanRequested', 'dead:GapDetected')
  onDead(@Payload() dead: { event: Event; reason: DeadReason }): Promise<readonly Event[]> {
    return abortRun(dead.event, this.state, dead.reason);
  }

  private async begun(
    event: Event,
    request: PlanRequested['data'],
    gap: GapDetected['data'] | null,
    { left, strategy }: { readonly left: GapDetected['data']['left']; readonly strategy: string },
    signal: AbortSignal,
  ): Promise<Planning> {
    const { runId } = event;
    const epoch = gap ? gap.epoch + 1 : 0;
    const owner = planId(runId, epoch);
    const now = await this.state.now();
    const timeoutMs = request.template.planning_timeout_s * 1000;
    const wanted = new AwaitedPlan({ state: this.state, cancels: this.maker.cancels }, event, owner, now, timeoutMs);
    const allowance = planAllowance(left, request.limits, strategyOf(strategy).planner);
    const userInputs = gap?.memory.userInputs.map(({ text }) => text) ?? [];
    return { runId, owner, epoch, request, gap, allowance, userInputs, deadline: now + timeoutMs, signal, wanted };
  }

  /** The plan of a strategy with its own ask: the reply is the plan. */
  private async planByOwnAsk(
    planning: Planning,
    { planAsk, planTakes }: { readonly planAsk: Ask<PlanAsked, PlanSaid> } & Pick<AskingStrategy, 'planTakes'>,
    given: PlanAsked['asked'],
  ): Promise<HandlerOutcome> {
    const { runId, epoch, request } = planning;
    const asked = await this.ask(planning, planAsk, { request, asked: given }, (model, tried) => ownPlanLine(model, epoch, tried));
    if (asked.kind === 'busy') return defer(asked.retryInMs);
    const { records } = asked;
    if (asked.kind === 'cancelled') return this.givenUp(planning, asked.usage, records);
    const { reAsks, usage } = asked;
    const { safety } = levelOf(request);
    const draft = { ...blank, complexity: 'moderate' as const, safety, epoch, reAsks, usage };
    if (asked.kind === 'output') {
      const values = planTakes?.values(asked.output, { request, asked: given }) ?? [];
      const taken = values.length > 0 ? await this.taken(planning, values) : null;
      if (taken?.kind === 'busy') return defer(taken.retryInMs);
      if (taken?.kind === 'cancelled') return this.givenUp(planning, usage, [...records, ...taken.records]);
      const { tasks, content } = taken?.value && planTakes ? planTakes.filled(asked.output, taken.value) : asked.output;
      return [this.created(runId, { ...draft, tasks: [...tasks], content }), ...records, ...(taken?.records ?? [])];
    }
    const failure =
      asked.kind === 'failed'
        ? asked.failure
        : {
            code: 'PROVIDER_REPLY_INVALID' as const,
            message: `No usable plan came: ${asked.last.faults[0] ?? 'the reply is empty.'}`,
            retriable: true,
          };
    return [this.created(runId, { ...draft, failure }), ...records];
  }

  private taken({ runId, owner, deadline, signal, wanted, request }: Planning, values: readonly TakenValue[]) {
    const { maker, state } = this;
    return valuesTaken({ maker, caches: state.caches }, { runId, owner, deadline, signal, wanted }, request.caller.tenant, values);
  }

  /** Performs the ask of a plan within its allowance and shows its result. */
  private async ask<In, Out>(
    { runId, owner, deadline, signal, wanted, request, allowance, userInputs }: Planning,
    ask: Ask<In, Out>,
    input: In,
    line: (model: string, tried: Try) => string,
  ): Promise<AskedFor<Out>> {
    const { template } = request;
    let shownAttempt = 1;
    const asked = await performAsk(this.maker, ask, input, {
      ...{ runId, owner, deadline, signal, wanted, callsPerTry },
      purpose: 'plan',
      models: template.planner.models,
      contexts: template.contexts,
      ...allowance,
      userInputs,
      prices: template.prices,
      onBegun: ({ attempt, model, messages, before }, tried) => {
        shownAttempt = attempt;
        const text = `${line(model, tried)}${insteadOf(before)}`;
        return this.show(runId, owner, attempt, request, [{ n: 0, code: 'planner.prompt', text, detail: promptDetail(messages) }]);
      },
      onWaiting: (attempt, text) => this.show(runId, owner, attempt, request, [{ n: waitingN, code: 'planner.prompt', text }]),
      onRead: ({ attempt, reply, faults }, tried) =>
        this.show(runId, owner, attempt, request, [
          { n: 1, code: 'planner.result', text: saidOf(reply, resultLine(faults, tried)), detail: reply.content },
        ]),
    });
    // If no budget was left for a call, none began that could have noticed that the plan is no longer awaited.
    if (asked.kind === 'failed' && !(await wanted.confirmed())) return { ...asked, kind: 'cancelled' };
    if (asked.kind === 'failed')
      await this.show(runId, owner, Math.max(shownAttempt, asked.attempt), request, [
        { n: 1, code: 'planner.result', text: `No plan came: ${asked.failure.message}` },
      ]);
    return asked;
  }

  private async plan(planning: Planning): Promise<HandlerOutcome> {
    const { runId, owner, epoch, request, gap, deadline, signal, wanted: awaited } = planning;
    const look = { runId, owner, deadline, signal, wanted: awaited };
    const inWords = levelOf(request);
    const question = gap ? [gap.nextFocus, gap.gap].find((text) => text !== '') || request.goal : request.goal;
    const isInDoubt = inWords.complexity === 'trivial' && gap === null;
    const isLost = gap === null && !this.lookup.searchesWeb(request) && needsDocument(request, inWords);
    const where = isLost ? 'anywhere' : isInDoubt ? 'everywhere' : 'learned';
    const before = gap === null && !isLost ? earlierQuestions(request).slice(-lookedBefore) : [];
    const looked = isInDoubt && inWords.lookUp === null ? null : await this.lookup.look(look, request, [question, ...before], where);
    if (looked?.kind === 'busy') return defer(looked.retryInMs);
    if (looked?.kind === 'cancelled') return this.givenUp(planning, noUsage, looked.records);
    const seen = looked?.value ?? null;
    const level = isInDoubt ? raiseLevel(inWords, seen, this.lookup.searchesWeb(request)) : isLost ? lowerLevel(inWords, seen) : inWords;
    const offersLearned = seen?.learned === true;
    /** The plan as an event, with its model order. */
    const planned = async (draft: PlanDraft, made: readonly Event[] = []): Promise<HandlerOutcome> => {
      const drawn = await this.choices.draw(look, draft.tasks, request);
      if (drawn?.kind === 'busy') return defer(drawn.retryInMs);
      const records = [...(looked?.records ?? []), ...made, ...(drawn?.records ?? [])];
      if (drawn?.kind === 'cancelled') return this.givenUp(planning, draft.usage, records);
      const tasks = offersLearned && level.complexity !== 'trivial' ? [...withLearned(draft.tasks, gap ? question : null)] : draft.tasks;
      return [this.created(runId, { ...draft, tasks, choices: drawn?.value ?? {} }), ...records];
    };
    const needsNoCall = gap === null && (level.complexity === 'trivial' || request.plan !== undefined);
    if (needsNoCall && !(await awaited.confirmed())) return this.givenUp(planning, noUsage, looked?.records ?? []);
    if (level.complexity === 'trivial' && gap === null)
      return planned({ ...blank, ...level, epoch, tasks: [trivialTask(request, level.category)] });
    if (gap === null && request.plan) {
      await this.show(runId, owner, 1, request, [
        { n: 0, code: 'planner.result', text: 'The plan comes from the plan cache', detail: JSON.stringify(request.plan.tasks) },
      ]);
      return planned({ ...blank, ...request.plan, safety: level.safety, epoch, cached: true });
    }
    const asked = await this.ask(planning, planAsk, { request, gap, complexity: level.complexity }, (model, tried) =>
      planningLine(model, level.complexity, gap !== null, tried),
    );
    if (asked.kind === 'busy') return defer(asked.retryInMs);
    const { records } = asked;
    if (asked.kind === 'cancelled') return this.givenUp(planning, asked.usage, [...(looked?.records ?? []), ...records]);
    const { usage, reAsks } = asked;
    // A reply that cannot be read is not followed by another if that would take the calls that the answer needs.
    const isCut = asked.kind === 'failed' && asked.last !== null && asked.failure.code === 'ALLOWANCE_EXHAUSTED';
    if (asked.kind === 'failed' && !isCut)
      return [
        this.created(runId, { ...blank, ...level, epoch, reAsks, failure: asked.failure, usage }),
        ...(looked?.records ?? []),
        ...records,
      ];
    // A model that writes no usable plan may still answer well from what a search for the question finds.
    const searches = searchesByText.filter((name) => request.template.capabilities.includes(name));
    const isFallback = asked.kind !== 'output';
    const { tasks: wanted, searchQuestion } = isFallback
      ? { tasks: fallbackTasks(request.goal, searches, gap === null ? searchTextOf(request) : question), searchQuestion: null }
      : asked.output;
    const tasks = [...(gap === null ? withVision(wanted, request, level.complexity) : wanted)];
    return planned({ ...blank, ...level, epoch, tasks, searchQuestion, fallback: isFallback, reAsks, usage }, records);
  }

  /**
   * The outcome of a plan that was cancelled. Of one that the engine gave up, it counts what was paid. If the engine still awaits it, the
   * run was flagged: the engine then waits for the cancel command only for seconds, because its sender may have died after the flag.
   */
  private async givenUp(
    { runId, owner, epoch, request, wanted }: Planning,
    usage: PlanDraft['usage'],
    records: readonly Event[],
  ): Promise<HandlerOutcome> {
    const isToldNothing = (await wanted.isGivenUp(epoch)) ? usage.calls === 0 : !(await this.maker.cancels.isCancelled([runId, owner]));
    if (isToldNothing) return records;
    const failure = { code: 'CALL_CANCELLED', message: 'The plan was no longer awaited.', retriable: false };
    const { complexity, safety } = levelOf(request);
    return [this.created(runId, { ...blank, complexity, safety, epoch, failure, usage }), ...records];
  }

  private show(
    runId: string,
    owner: string,
    attempt: number,
    request: PlanRequested['data'],
    lines: readonly ThoughtLine[],
  ): Promise<void> {
    return appendThoughts(this.stream, { runId, data: { taskId: owner, detail: request.detail ?? 'redacted' } }, attempt, lines);
  }

  private created(runId: string, data: PlanDraft): Event {
    return makeEvent(PlanCreated, { id: planId(runId, data.epoch), runId, source: 'planner', time: Date.now() }, data);
  }
}
