import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { KeyView, PlanRequested } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { Commands } from '../runs/commands.js';

const pageSize = 200;
/**
 * Milliseconds after which runs are looked for again: until then another gateway may have accepted one, because changes of keys reach it within two
 * seconds. Runs with a connected client are cancelled by then, because the connection was cut; parked runs are not.
 */
const againMs = 3_000;

/** The runs that keys have started, with or without a connected client. */
@Injectable()
export class RunsOfKeys implements OnApplicationShutdown {
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'metrics' | 'logger'>,
    @Inject(STATE) private readonly state: { readonly runs: Pick<StateStore['runs'], 'list' | 'header' | 'cancelled'> },
    @Inject(Commands) private readonly commands: Commands,
  ) {}

  onApplicationShutdown(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  /** Cancels the open runs of a revoked key. Throws STORE_*, LOG_UNAVAILABLE: then some may continue, and a repeat cancels them. */
  async cancel(key: KeyView, actor: string): Promise<void> {
    await this.cancelOpen(key, actor, ['runs']);
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.cancelOpen(key, actor, ['runs', 'chat']).catch((error: unknown) =>
        this.options.logger.warn('The runs of a revoked key could not be looked for once more. Revoke it again.', { key: key.id, error }),
      );
    }, againMs).unref();
    this.timers.add(timer);
  }

  private async cancelOpen(
    { id, tenant, created_at: since }: KeyView,
    actor: string,
    origins: readonly PlanRequested['data']['origin'][],
  ): Promise<void> {
    const runs: string[] = [];
    const isOf = ({ data }: PlanRequested): boolean => data.caller.actor === id && origins.includes(data.origin);
    for (let before: number | undefined; ;) {
      const page = await this.state.runs.list({ tenant, limit: pageSize, ...(before === undefined ? {} : { before }) });
      const headers = await Promise.all(page.filter(({ terminal }) => !terminal).map(({ runId }) => this.state.runs.header(runId)));
      runs.push(...headers.flatMap((header) => (header && isOf(header) ? [header.runId] : [])));
      before = page.at(-1)?.acceptedAt;
      // A run cannot be older than its key.
      if (page.length < pageSize || before === undefined || before < since) break;
    }
    const cancelled = await this.state.runs.cancelled(runs);
    const open = runs.filter((runId) => !cancelled.has(runId));
    for (const runId of open) {
      await this.commands.issue(runId, actor, { name: 'cancel', reason: 'the API key was revoked' });
      this.options.metrics.onCancel('command');
    }
    if (open.length > 0) this.options.logger.info('Runs of a revoked key were cancelled.', { key: id, tenant, runs: open.length });
  }
}
