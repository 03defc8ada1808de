import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  ancestorsOf,
  CommandIssued,
  commandId,
  Failure,
  makeEvent,
  ownEvent,
  parentTaskOf,
  StepRecorded,
  type Event,
  type PlanRequested,
} from '@conclave/contracts';
import { NotBegun, recordedFacts, step, type StepResult, type EngineInput, type RunState } from '@conclave/loop';
import { EventPattern, LOGGER, PROBE, reachedDurably, type DeliveryContext, type Logger, type Probe } from '@conclave/platform';
import { defer, isDeferred, STATE, type DeadReason, type HandlerOutcome, type StateStore, type Step, type StepTime } from '@conclave/ports';
import { abortRun, AwaitedStrategies, PERMIT_KEY, withPermit, type PermitKey } from '@conclave/calls';
import { strategyOf } from '@conclave/strategies';
import { joinedResults } from './joined-results.js';
import { stepId } from './run-folding.js';
import { chainHash, stateHash } from './step-hash.js';

/** Milliseconds before retrying a step whose run kept changing concurrently. */
const conflictMs = 50;
/** Milliseconds before retrying an input whose run has not begun here. */
const notBegunMs = 50;
/** Milliseconds that a record may wait for an unknown run, or for an unknown task of its run. */
const strayMs = 60_000;

/** The run engine: every input is one pure step, committed atomically under the event's id. */
@Controller()
export class EngineHandler {
  private readonly strategies: AwaitedStrategies;

  constructor(
    @Inject(STATE) private readonly state: StateStore,
    @Inject(PROBE) private readonly probe: Probe,
    @Inject(PERMIT_KEY) private readonly permitKey: PermitKey,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error' | 'warn'>,
  ) {
    this.strategies = new AwaitedStrategies(state);
  }

  @EventPattern('PlanRequested', 'PlanCreated', 'ResultReady', 'TimerFired', 'CommandIssued')
  async onInput(@Payload() event: EngineInput, @Ctx() context?: DeliveryContext): Promise<HandlerOutcome> {
    const outcome = await this.take(event, context);
    return isDeferred(outcome) ? outcome : [...outcome, ...(await this.cancelOfUnawaited(event))];
  }

  @EventPattern('dead:PlanRequested', 'dead:PlanCreated', 'dead:ResultReady', 'dead:TimerFired')
  onDead(@Payload() dead: Dead): Promise<readonly Event[]> {
    return abortRun(dead.event, this.state, dead.reason);
  }

  /** A dead-lettered command ends its run too; a failed abort is not followed by another abort. */
  @EventPattern('dead:CommandIssued')
  async onDeadCommand(@Payload() dead: { event: CommandIssued; reason: DeadReason }): Promise<readonly Event[]> {
    return dead.event.data.command.name === 'abort' ? [] : abortRun(dead.event, this.state, dead.reason);
  }

  /** `request`: begins a run from its header when another input arrived before the run's own request. */
  private async take(event: EngineInput, context?: DeliveryContext, request: PlanRequested | null = null): Promise<HandlerOutcome> {
    try {
      return await this.commitStep(event, context, request);
    } catch (error) {
      // Contention for the run is not caused by this record, which would end the run as a dead letter.
      if (error instanceof Failure && error.code === 'COMMIT_CONFLICT') return defer(conflictMs);
      if (!(error instanceof NotBegun)) return this.strategies.defer(error, event, this.logger);
      // Records of a run are delivered one by one: if this one waited, the run's request could wait behind it forever.
      const header = error.what === 'run' ? await this.state.runs.header(event.runId) : null;
      if (header) return this.take(event, context, header);
      // A child run that was cancelled before it was accepted: usually it never will be. If it is, its request reads the flag of its task.
      if (event.type === 'CommandIssued' && event.data.command.name === 'cancel' && parentTaskOf(event.runId) !== null) return [];
      if ((await this.state.now()) - event.time < strayMs) return defer(notBegunMs);
      throw error;
    }
  }

  /**
   * The cancel of a child run that has just begun although nothing waits for it any longer; else empty. Its first cancel came before the
   * run was accepted, and was dropped. The flag is written before that cancel, and read here after the run was accepted: one of the two
   * always meets the other.
   */
  private async cancelOfUnawaited({ type, runId }: EngineInput): Promise<readonly Event[]> {
    if (type !== 'PlanRequested' || parentTaskOf(runId) === null) return [];
    if ((await this.state.runs.cancelled(ancestorsOf(runId))).size === 0) return [];
    const issuedAt = await this.state.now();
    return [
      makeEvent(
        CommandIssued,
        { id: commandId(runId, 0), runId, source: 'merger', time: issuedAt },
        {
          seq: 0,
          actor: 'engine',
          issuedAt,
          command: { name: 'cancel', reason: 'The run that started it no longer waits for it: its task was cancelled before it began.' },
        },
      ),
    ];
  }

  private async commitStep(
    event: EngineInput,
    context: DeliveryContext | undefined,
    request: PlanRequested | null,
  ): Promise<readonly Event[]> {
    const key = await this.permitKey.get();
    let decided: StepResult | null = null;
    const committed = await this.state.runs.commit<RunState>(event, (current, at) => {
      const unapplied = current === null ? request : null;
      const decision = step(current, event, at.now, strategyOf, unapplied);
      decided = decision;
      this.probe.reached('merger', 'engine-decided', event.id);
      return decision && storable(event, unapplied, current?.hash ?? '', decision, at, key);
    });
    await reachedDurably(this.probe, this.state, 'merger', 'engine-committed', event.id);
    this.tellUnusable(event, decided);
    const { outputs, repeated, state } = committed;
    if (context?.joined && state) context.joined.push(...joinedResults(state, outputs));
    // Outputs that `conclave recover` has rebuilt have no capability tokens.
    return repeated && state ? outputs.map((output) => withPermit(output, state.request.template.policies ?? {}, key)) : outputs;
  }

  /** The run ends with a sentence for its user; the error is for whoever runs or develops this. */
  private tellUnusable({ runId: run, id }: EngineInput, decided: StepResult | null): void {
    if (decided?.unusable === undefined) return;
    this.logger.error('A run was ended: its stored state cannot be used by this version.', { run, event: id, error: decided.unusable });
  }
}

interface Dead {
  readonly event: Event;
  readonly reason: DeadReason;
}

/** A decision in its stored form, with its audit record among the outputs. */
function storable(
  event: EngineInput,
  request: PlanRequested | null,
  before: string,
  decision: StepResult,
  at: StepTime,
  key: Buffer,
): Step<RunState> {
  const { facts, entries, cancels, timer, status } = decision;
  const { policies = {} } = decision.next.request.template;
  // The pure step has no key: its outputs are signed when they are sent.
  const outputs = decision.outputs.map((output) => withPermit(output, policies, key));
  const version = at.version + 1;
  const recorded = {
    input: inputOf(event),
    ...(request ? { request: inputOf(request) } : {}),
    now: at.now,
    facts: recordedFacts(facts, { input: event, request }),
  };
  const next = { ...decision.next, hash: chainHash(before, recorded) };
  const { runId } = next;
  const decided = facts.findLast((fact) => fact.kind === 'Decided');
  const terminal = next.endedAt !== null;
  const record = ownEvent(
    StepRecorded,
    { id: stepId(runId, version), runId, source: 'merger', time: at.now },
    {
      version,
      ...recorded,
      rule: decided?.rule ?? null,
      ruleSentence: decided?.sentence ?? null,
      outputs: outputs.map(({ id, type }) => ({ id, type })),
      hash: next.hash,
      stateHash: terminal ? stateHash(next) : null,
    },
  );
  return {
    next,
    // The gateway may have died before publishing the request, and the sweep skips runs that have begun.
    outputs: [...outputs, ...(request && event.type === 'CommandIssued' && !terminal ? [request] : []), record],
    entries,
    arm: timer && timer.at !== null ? [{ name: 'due', arm: timer.arm, dueAt: timer.at }] : [],
    disarm: timer && timer.at === null ? ['due'] : [],
    cancels,
    terminal,
    status,
  };
}

const inputOf = ({ id, type, time, data }: EngineInput) => ({ id, type, time, data });
