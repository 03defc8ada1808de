import { Inject, Injectable } from '@nestjs/common';
import {
  type Caller,
  childRunId,
  depthOf,
  erasedId,
  Failure,
  KnowledgeProposed,
  ownEvent,
  type PlanRequested,
  RunErased,
  type RunErasedView,
  topicsFor,
} from '@conclave/contracts';
import { runCapability } from '@conclave/loop';
import { type ErasedRun, EVENT_LOG, type EventLog, forgetRun, STATE, type StateStore } from '@conclave/ports';
import { clientTag, runTag } from '@conclave/strategies';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { ForkLinks } from './fork-links.js';
import { RunDirectory } from './run-directory.js';

/** The longest time that a record of a run stays on the log, when the configuration does not set it. */
const usualLogMs = Math.max(...topicsFor().map(({ retentionMs }) => retentionMs));

/** Deletes ended runs permanently. Every step may be repeated, so a deletion that failed half-way is completed by the next one. */
@Injectable()
export class Erasure {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
    @Inject(ForkLinks) private readonly links: ForkLinks,
  ) {}

  /** Throws RUN_NOT_FOUND, RUN_NOT_ENDED, REQUEST_INVALID for a child run, and the failures of the stores: then repeat the deletion. */
  async erase(id: string, caller: Caller): Promise<RunErasedView> {
    const { tenant, requestedAt, erasedAt } =
      (await this.runs.erased(id, caller)) ?? (await this.ended(await this.runs.header(id, caller)));
    // First of all, so that a store that is rebuilt from the log meanwhile finds it.
    await this.log.publish([
      ownEvent(
        RunErased,
        { id: erasedId(id), runId: id, source: 'gateway', time: erasedAt },
        { tenant, actor: caller.actor, requestedAt, erasedAt },
      ),
    ]);
    await this.state.runs.erase({ runId: id, tenant, requestedAt });
    await this.unlearn(id, caller, erasedAt);
    const log = await this.log.erase(id);
    this.options.logger.info('run deleted', { run: id, actor: caller.actor, log });
    const forks = await this.eraseForks(id, caller);
    return viewOf(id, log, erasedAt, this.options.logMs ?? usualLogMs, forks);
  }

  /**
   * Deletes what was kept of a run for later questions, and what was learned from it. Its tombstone must be written already: whoever still
   * learns from the run looks for it, or for the ban on its tag, after its last write.
   */
  private async unlearn(id: string, caller: Caller, at: number): Promise<void> {
    const { tenant } = caller;
    for (const tag of [runTag(id), clientTag(id)]) await this.state.caches.removeTagged(tenant, tag, this.options.logMs ?? usualLogMs);
    if (this.options.vectors) await forgetRun(this.options.vectors, tenant, id);
    await this.forget(id, caller, at);
  }

  /** Deletes what the knowledge graph learned from the run. If the graph cannot be reached from here, the service that writes it deletes that later. */
  private async forget(id: string, { tenant, actor }: Caller, at: number): Promise<void> {
    try {
      if (this.options.graph) return void (await this.options.graph.forget({ tenant, runId: id }));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'GRAPH_UNAVAILABLE') throw error;
    }
    await this.log.publish([
      ownEvent(
        KnowledgeProposed,
        // Records of the run itself are erased, including this one.
        { id: `${id}/forgotten`, runId: `forgotten_${id}`, source: 'gateway', time: at },
        { kind: 'erasure', tenant, actor, text: '', about: id, rating: null, document: null, proposedAt: at },
      ),
    ]);
  }

  /** Deletes forks and reruns of this run. Those that have not ended are left and named. */
  private async eraseForks(id: string, caller: Caller): Promise<{ readonly forks: string[]; readonly open_forks: string[] }> {
    const [forks, open_forks]: [string[], string[]] = [[], []];
    for (const fork of await this.links.close(caller.tenant, id)) {
      try {
        const erased = await this.erase(fork, caller);
        forks.push(fork, ...erased.forks);
        open_forks.push(...erased.open_forks);
      } catch (error) {
        const code = error instanceof Failure ? error.code : null;
        if (code === 'RUN_NOT_ENDED') open_forks.push(fork);
        // A run that was never accepted, or that has expired.
        else if (code !== 'RUN_NOT_FOUND') throw error;
      }
    }
    return { forks, open_forks };
  }

  /** What the deletion needs to know of an ended run whose child runs are already erased. */
  private async ended({ runId, data }: PlanRequested): Promise<ErasedRun> {
    if (depthOf(runId) > 0) throw new Failure('REQUEST_INVALID', 'A child run is deleted with the run that began it.', { param: 'id' });
    const { requestedAt, caller } = data;
    const { tenant } = caller;
    const children = await this.childrenOf(runId);
    // The innermost first: a run's child runs can be determined only while the run exists. So a repeat of a deletion that failed finds the
    // child run again at which it failed.
    for (const child of children.reverse()) {
      if ((await this.state.runs.erase({ runId: child, tenant, requestedAt })) === 'open')
        throw new Failure('RUN_NOT_ENDED', `Its child run ${child} has not ended yet. Try again in a moment.`);
      await this.unlearn(child, caller, requestedAt);
    }
    return { runId, tenant, requestedAt, erasedAt: await this.state.now() };
  }

  /** Ids of all child runs of an ended run, outer ones first. Throws RUN_NOT_ENDED. */
  private async childrenOf(runId: string): Promise<string[]> {
    const stored = await this.state.runs.read(runId);
    if (stored?.terminal !== true && depthOf(runId) === 0) throw new Failure('RUN_NOT_ENDED');
    if (!stored) return [];
    const tasks = this.options.describeRun(stored.state).rounds.flatMap((round) => round.tasks);
    const children = tasks.filter(({ capability }) => capability === runCapability).map((task) => childRunId(task.id));
    return [...children, ...(await Promise.all(children.map((child) => this.childrenOf(child)))).flat()];
  }
}

function viewOf(
  id: string,
  log: RunErasedView['log'],
  erasedAt: number,
  logMs: number,
  { forks, open_forks }: Pick<RunErasedView, 'forks' | 'open_forks'>,
): RunErasedView {
  const gone_by = log === 'gone' ? null : erasedAt + logMs;
  const message =
    gone_by === null
      ? 'The run is gone: its question, its answer, its prompts and replies, and what was kept of them for later questions or learned from it alone.'
      : `The run, its answer and what was kept of them for later questions or learned from it alone are gone. Its records on the event log cannot be removed one by one: they are gone when their retention ends, on ${new Date(gone_by).toISOString().slice(0, 10)}.`;
  const left =
    open_forks.length === 0 ? '' : ` Forks of it that have not ended stay: ${open_forks.join(', ')}. Delete it once more when they have.`;
  return { id, object: 'run', deleted: true, log, forks, open_forks, gone_by, message: message + left };
}
