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
import { EventPattern, type DeliveryContext } from '@conclave/platform';
import { defer, RUN_STREAM, STATE, type DeadReason, type HandlerOutcome } from '@conclave/ports';
import {
  abortRun, askModels, CALL_MAKER, promptDetail, thinkAloud, type Calls, type ShownIn, type ThoughtLine, type WorkState,
} from '@conclave/service-calls'; // prettier-ignore
import { plannerPrompt, readPlan, reAskPlan } from '@conclave/strategies';
import type { z } from 'zod';
import { levelOf, trivialTask } from './level.js';

/** Tries of one plan: the first and two re-asks with what was wrong. */
const tries = 3;
/** Calls one try may cost: its model with two repeats, and one fallback. */
const callsPerTry = 4;

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
  constructor(
    @Inject(STATE) private readonly state: WorkState,
    @Inject(CALL_MAKER) private readonly maker: Calls,
    @Inject(RUN_STREAM) private readonly stream: ShownIn,
  ) {}

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
    const level = levelOf(request);
    if (level.complexity === 'trivial' && gap === null)
      return [this.created(runId, { ...blank, ...level, epoch, tasks: [trivialTask(request, level.category)] })];
    const deadline = now + timeoutMs;
    const left = gap?.left ?? { model_calls: request.limits.model_calls, tokens: request.limits.tokens };
    const records: Event[] = [];
    let usage = noUsage;
    let asked: readonly Asked[] = [];
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
        onBegun: (attempt, model, messages) =>
          this.show(runId, owner, attempt, request, [
            { n: 0, code: 'planner.prompt', text: `${level.complexity}: ${model} plans`, detail: promptDetail(messages) },
          ]),
      });
      if (answered.kind === 'busy') return defer(answered.retryInMs);
      records.push(...answered.records);
      usage = addUsage(usage, answered.usage);
      if (answered.kind === 'cancelled') return records;
      if (answered.kind === 'failed')
        return [this.created(runId, { ...blank, ...level, epoch, reAsks: tried, failure: answered.failure, usage }), ...records];
      await this.show(runId, owner, answered.attempt, request, [
        { n: 1, code: 'planner.result', text: 'The planner has answered', detail: answered.reply.content },
      ]);
      const plan = readPlan(answered.reply.content, request.template, request.goal, level.complexity);
      if (plan.ok)
        return [
          this.created(runId, { ...blank, ...level, epoch, tasks: plan.tasks, searchQuestion: plan.searchQuestion, reAsks: tried, usage }),
          ...records,
        ];
      asked = [...asked, { reply: answered.reply.content, faults: plan.faults }];
    }
    return [
      this.created(runId, { ...blank, ...level, epoch, tasks: [...fallbackTasks(request.goal)], fallback: true, reAsks: tries - 1, usage }),
      ...records,
    ];
  }

  /** Old work is not done again: a run that is over or flagged, and a plan whose time has passed, need no call. */
  private async isAwaited(event: Event, now: number, timeoutMs: number): Promise<boolean> {
    if (await this.maker.cancels.isCancelled([event.runId])) return false;
    if (event.type === 'GapDetected') return now < event.time + timeoutMs;
    // The engine may hear of a run later than the planner; once it is past planning, the first plan is not awaited any more.
    const run = await this.state.runs.read(event.runId);
    return run === null || run.status === 'planning' || run.status === 'unborn';
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
