import { once } from 'node:events';
import { Controller, Get, Inject, Query, Req, Res } from '@nestjs/common';
import { Failure, RunId } from '@conclave/contracts';
import type { AuditFilter } from '@conclave/platform';
import { EVENT_LOG, type EventLog, STATE, type StateStore } from '@conclave/ports';
import type { Request, Response } from 'express';
import { Turns } from '../admin/turns.js';
import { Callers } from '../http/caller.js';
import { textIn } from '../http/query.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { RunDirectory } from '../runs/run-directory.js';
import { DetailReads } from './detail-reads.js';

type Query = Readonly<Record<string, unknown>>;

/** Exports that may wait while another one reads the log; each reads the whole audit. */
const mostWaiting = 2;

/** The audit for people without access to the log. */
@Controller('v1/audit')
export class AuditController {
  private readonly turns = new Turns(mostWaiting);

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
    @Inject(DetailReads) private readonly reads: DetailReads,
  ) {}

  @Get()
  async read(@Req() request: Request, @Res() response: Response, @Query() query: Query): Promise<void> {
    const { tenant, actor, ofAll } = await this.callers.identifyAuditor(request);
    const asked = textIn(query, 'tenant') ?? (ofAll ? null : tenant);
    if (asked !== tenant && !ofAll) throw new Failure('OPERATOR_KEY_NEEDED', `This key reads only the audit of the tenant ${tenant}.`);
    const run = textIn(query, 'run');
    // For an auditor of one tenant, a run of another tenant does not exist.
    if (run !== null && !ofAll && !(await this.runs.erased(run, { tenant, actor }))) await this.runs.header(run, { tenant, actor });
    if (run !== null && !RunId.safeParse(run).success) throw new Failure('RUN_NOT_FOUND');
    const filter: AuditFilter = {
      tenant: asked,
      run,
      since: momentIn(query, 'since'),
      until: momentIn(query, 'until'),
    };
    await this.turns.take(() => this.send(response, filter, actor));
  }

  private async send(response: Response, filter: AuditFilter, actor: string): Promise<void> {
    const key = this.options.auditKey?.();
    if (!key) throw new Failure('ROUTE_NOT_FOUND', 'This gateway has no key to sign an audit with.');
    const now = await this.state.now();
    await this.reads.ofExport(filter, actor, now);
    const stop = new AbortController();
    response.once('close', () => stop.abort());
    const source = { log: this.log, runs: this.state.runs };
    // Imported lazily, because few gateways ever export the audit.
    const { exportAudit } = await import('@conclave/platform/export-audit');
    const lines = exportAudit({ source, filter, actor, now, key, signal: stop.signal });
    response.setHeader('content-type', 'application/x-ndjson; charset=utf-8');
    response.setHeader('cache-control', 'no-store');
    // The whole log is read before the first line: empty lines, which readers skip, keep the connection open.
    const beat = setInterval(() => response.write('\n'), this.limits.firstHeartbeatMs);
    try {
      for await (const line of lines) {
        clearInterval(beat);
        if (!response.write(line)) await once(response, 'drain', { signal: stop.signal });
      }
      response.end();
    } catch (error) {
      if (stop.signal.aborted) return;
      if (!response.headersSent) throw error;
      // An export without its head is recognised as cut short.
      this.options.logger.error('an export of the audit failed', { actor, error });
      response.destroy();
    } finally {
      clearInterval(beat);
    }
  }
}

/** A time in milliseconds since 1970, from such a number or from a date; null when absent. Throws REQUEST_INVALID. */
function momentIn(query: Query, name: string): number | null {
  const text = textIn(query, name);
  if (text === null) return null;
  const at = /^\d{1,15}$/.test(text) ? Number(text) : /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new Failure('REQUEST_INVALID', `\`${name}\` must be a date such as 2026-11-24, or milliseconds since 1970.`, { param: name });
  return at;
}
