import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure, isTerminal, noUsage, type PlanRequested, RunId, type RunView } from '@conclave/contracts';
import { type ErasedRun, STATE, type StateStore } from '@conclave/ports';
import { commandsOf } from '@conclave/strategies';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { StreamHub } from '../stream/stream-hub.js';

/** Milliseconds that a request waits for the record of a run whose cached answer was sent before that record was written. */
const recordWithinMs = 1_000;

/** Runs by id, for callers who may see them. */
@Injectable()
export class RunDirectory {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(StreamHub) private readonly hub: StreamHub,
  ) {}

  /** The header of a run of the caller's tenant. Throws RUN_NOT_FOUND, also for a run of another tenant, RUN_ERASED. */
  async header(id: string, caller: Caller): Promise<PlanRequested> {
    const header = RunId.safeParse(id).success ? await this.state.runs.header(id) : null;
    if (!header && (await this.erased(id, caller))) throw new Failure('RUN_ERASED');
    if (!header || header.data.caller.tenant !== caller.tenant) throw new Failure('RUN_NOT_FOUND');
    return header;
  }

  /** The tombstone of a run of the caller's tenant that was erased; null for every other run. */
  async erased(id: string, { tenant }: Caller): Promise<ErasedRun | null> {
    const erased = RunId.safeParse(id).success ? await this.state.runs.erased(id) : null;
    return erased?.tenant === tenant ? erased : null;
  }

  /**
   * Waits up to one second for the record of a run that a cache has answered, then returns the current state. Throws RUN_NOT_FOUND,
   * RUN_ERASED.
   */
  async view(id: string, caller: Caller): Promise<RunView> {
    const header = await this.header(id, caller);
    let stored = await this.state.runs.read(id);
    if (header.data.cached && !stored?.terminal && (await this.ends(id))) stored = await this.state.runs.read(id);
    const view = stored ? this.options.describeRun(stored.state) : acceptedView(header);
    return { ...view, usage: { ...view.usage, recorded: await this.state.usage.ofRun(id) } };
  }

  /** Returns whether the run ends within one second. */
  ends(id: string): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (ended: boolean): void => {
        clearTimeout(timer);
        following.stop();
        resolve(ended);
      };
      const timer = setTimeout(() => stop(false), recordWithinMs);
      const following = this.hub.follow(
        id,
        {
          cursor: 0,
          ready: () => true,
          take: (entries) => {
            if (entries.some(isTerminal)) stop(true);
          },
          lost: () => stop(true),
          failed: () => stop(false),
        },
        false,
      );
    });
  }
}

/** The view of a run that the engine has not handled yet, from its header. */
const acceptedView = ({ runId, data }: PlanRequested): RunView => ({
  object: 'run',
  id: runId,
  template: { id: data.template.id, version: data.template.version, strategy: data.template.strategy },
  status: 'accepted',
  terminal: false,
  outcome: null,
  rule: null,
  reason: null,
  reasonCode: null,
  question: data.goal,
  answer: null,
  cutShort: false,
  assessed: null,
  complexity: data.complexity ?? null,
  cached: data.cached ? { origin: data.cached.origin, runId: data.cached.runId, distance: data.cached.distance } : null,
  review: null,
  fork: data.fork ? { of: data.fork.of, step: data.fork.step, before: noUsage } : null,
  sources: [],
  evidence: [],
  steps: null,
  rounds: [],
  roundsUsed: 0,
  history: [],
  decisions: [],
  otherRules: [],
  takes: [...commandsOf(data.template.strategy)],
  commands: [],
  waitsFor: null,
  usage: { total: noUsage, inFlight: { tasks: 0, calls: 0, tokens: 0, cost: null }, openCalls: 0, recorded: null, items: [] },
  limits: data.limits,
  failure: null,
  acceptedAt: data.requestedAt,
  startedAt: null,
  completedAt: null,
});
