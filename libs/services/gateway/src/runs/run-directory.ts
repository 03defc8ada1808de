import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure, noUsage, type PlanRequested, RunId, type RunView } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

/** Runs by their id, for those who may see them. */
@Injectable()
export class RunDirectory {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: StateStore,
  ) {}

  /** The header of a run of the caller's tenant. Throws RUN_NOT_FOUND, the same for a run of another tenant as for none. */
  async header(id: string, caller: Caller): Promise<PlanRequested> {
    const header = RunId.safeParse(id).success ? await this.state.runs.header(id) : null;
    if (!header || header.data.caller.tenant !== caller.tenant) throw new Failure('RUN_NOT_FOUND');
    return header;
  }

  /** Throws RUN_NOT_FOUND. */
  async view(id: string, caller: Caller): Promise<RunView> {
    const header = await this.header(id, caller);
    const stored = await this.state.runs.read(id);
    return stored ? this.options.describeRun(stored.state) : acceptedView(header);
  }
}

/** A run nobody has begun yet: all there is to say stands in its header. */
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
  complexity: data.complexity ?? null,
  cached: null,
  review: null,
  sources: [],
  rounds: [],
  history: [],
  decisions: [],
  usage: { total: noUsage, items: [] },
  limits: data.limits,
  failure: null,
  acceptedAt: data.requestedAt,
  startedAt: null,
  completedAt: null,
});
