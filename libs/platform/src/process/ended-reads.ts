import type { Provider } from '@nestjs/common';
import { depthOf, type RunCompleted } from '@conclave/contracts';
import { EVENT_LOG, STATE, type EventLog, type StateStore } from '@conclave/ports';
import type { Loaded } from '../configuration/load.js';
import { ENDED_READS, LOGGER } from '../tokens.js';
import type { Logger } from '../logging/logger.js';

/** Consumer groups that read the record of a run after its end. */
export type EndReader = 'learning' | 'graph-ingest' | 'webhooks';

/** Each of these groups reports that it has finished its work on an ended run, or will never do it. */
export interface EndedReads {
  /** Idempotent. Throws LOG_UNAVAILABLE, STORE_*; the record is then delivered again. */
  done(event: RunCompleted, by: EndReader): Promise<void>;
}

/** For logs that are not sealed, and where records may be read as long as they are kept. */
export const keptRecords: EndedReads = { done: () => Promise.resolve() };

/** Whether the keys of runs are destroyed at their end: `store_prompts: none` and a sealed log. */
export const forgetsAtEnd = ({ configuration, environment }: Pick<Loaded, 'configuration' | 'environment'>): boolean =>
  configuration.store_prompts === 'none' && (environment.CONCLAVE_SEAL_KEY_FILE ?? environment.CONCLAVE_SEAL_KEY) !== undefined;

/** Injectable as ENDED_READS. */
export const endedReads = (forgets: boolean): Provider => ({
  provide: ENDED_READS,
  inject: [STATE, EVENT_LOG, LOGGER],
  useFactory: (state: StateStore, log: EventLog, logger: Logger) => (forgets ? new ForgottenRuns(state, log, logger) : keptRecords),
});

/** Milliseconds for which the readers of a run are remembered: longer than any of them should lag behind. */
const rememberedMs = 30 * 86_400_000;

/**
 * Destroys the key of a run as soon as every reader of its end has finished: earlier, a waiting record could no longer be handled. The
 * process that sees the last reader finish destroys it, so that no process has to wait for others. Child runs share the key of the run that
 * a client requested.
 */
export class ForgottenRuns implements EndedReads {
  constructor(
    private readonly state: { readonly caches: Pick<StateStore['caches'], 'read' | 'write'> },
    private readonly log: Pick<EventLog, 'erase'>,
    private readonly logger: Pick<Logger, 'info'>,
  ) {}

  async done({ runId, data }: RunCompleted, by: EndReader): Promise<void> {
    if (depthOf(runId) > 0) return;
    const readers: EndReader[] = ['learning', 'graph-ingest', ...((data.deliver ?? []).length > 0 ? (['webhooks'] as const) : [])];
    if (!readers.includes(by)) return;
    const { tenant } = data.caller;
    const { caches } = this.state;
    // Written before the others are read: if two readers finish at the same moment, at least one of them sees both marks.
    await caches.write({ tenant, key: markOf(runId, by), value: true, ttlMs: rememberedMs, tags: [] });
    const marks = await Promise.all(readers.map((reader) => caches.read(tenant, markOf(runId, reader))));
    if (marks.includes(null)) return;
    const log = await this.log.erase(runId);
    this.logger.info('The run has ended: its records are no longer readable.', { run: runId, log });
  }
}

const markOf = (runId: string, reader: EndReader): string => `read/${runId}/${reader}`;
