import { Inject, Injectable } from '@nestjs/common';
import { Failure, topicsFor } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

/** Placeholder after the last fork of a deleted run, which blocks further ones. */
const closed = 'erased';

/** Records from which run each fork or rerun was made: each takes a numbered place under its original run. */
@Injectable()
export class ForkLinks {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logMs'>,
    @Inject(STATE) private readonly state: { readonly once: StateStore['once'] },
  ) {}

  /** Called before the new run is accepted. Throws RUN_ERASED if the other run is being deleted, STORE_*. */
  async add(tenant: string, of: string, runId: string): Promise<void> {
    for (let place = 0; ; place += 1) {
      const { mine, holder } = await this.claim(tenant, of, place, runId);
      if (mine) return;
      if (holder === closed) throw new Failure('RUN_ERASED');
    }
  }

  /** Returns the runs that were added so far, some of which may never have been accepted, and blocks further ones. May be repeated. */
  async close(tenant: string, of: string): Promise<readonly string[]> {
    const runs: string[] = [];
    for (;;) {
      const { mine, holder } = await this.claim(tenant, of, runs.length, closed);
      if (mine) return runs;
      runs.push(holder);
    }
  }

  private claim(tenant: string, of: string, place: number, holder: string) {
    // A run can be forked until it expires, and deleted for as long.
    const ttlMs = 2 * (this.options.logMs ?? Math.max(...topicsFor().map(({ retentionMs }) => retentionMs)));
    return this.state.once.claim({ tenant, name: `taken-up/${of}/${place}`, holder, ttlMs });
  }
}
