import { Inject, Injectable } from '@nestjs/common';
import { type Caller, DetailRead, ownEvent } from '@conclave/contracts';
import type { AuditFilter } from '@conclave/platform';
import { EVENT_LOG, type EventLog, STATE, type StateStore } from '@conclave/ports';

/** Key of these records. They belong to no run, so deleting a run does not delete the record of who read it. */
const key = 'detail-reads';

/** Records on the audit who has read prompts and raw replies. */
@Injectable()
export class DetailReads {
  private count = 0;

  constructor(
    @Inject(STATE) private readonly state: Pick<StateStore, 'now'>,
    @Inject(EVENT_LOG) private readonly log: Pick<EventLog, 'publish'>,
  ) {}

  /** Resolves when the record is durable. Throws STORE_*, LOG_UNAVAILABLE: then nothing may be shown. */
  async ofRun(run: string, { tenant, actor }: Caller): Promise<void> {
    const readAt = await this.state.now();
    await this.write({ what: 'events', tenant, actor, run, since: null, until: null, readAt });
  }

  /** As `ofRun`, for an export. */
  async ofExport({ tenant, run, since, until }: AuditFilter, actor: string, readAt: number): Promise<void> {
    await this.write({ what: 'export', tenant, actor, run, since, until, readAt });
  }

  private async write(data: DetailRead['data']): Promise<void> {
    this.count += 1;
    const { what, actor, run, readAt } = data;
    const id = `detail/${what}/${run ?? 'all'}/${actor}/${readAt}.${this.count}`;
    await this.log.publish([ownEvent(DetailRead, { id, runId: key, source: 'gateway', time: readAt }, data)]);
  }
}
