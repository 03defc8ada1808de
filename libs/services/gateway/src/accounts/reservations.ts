import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Failure, type KeyLimits, noUsage, type Usage } from '@conclave/contracts';
import { type Amount, type Headroom, type Headrooms, type LimitRefusal, type Reserved, STATE, type StateStore } from '@conclave/ports';
import type { Request, Response } from 'express';
import { Callers, isUserAccount, tenantAccount } from '../http/caller.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';

/** Milliseconds after the end of a run during which calls that end late are still charged. */
const lateMs = 60_000;

/** Work that is about to begin. */
export interface PlannedWork {
  /** The run, or the id of a call to a model. */
  readonly runId: string;
  readonly sort: 'run' | 'call';
  /** Template or model. */
  readonly kind: string;
  /** The amount to reserve for an unknown kind, and the minimum for every kind. */
  readonly guess: Amount;
  readonly least: Amount;
}

/** What is left of the budgets for this work; null without a budget. */
export interface Room {
  readonly tokens: number | null;
  readonly cost: number | null;
}

interface Held {
  readonly tenant: string;
  readonly sort: PlannedWork['sort'];
  readonly renewAt: number;
  /** When its run was found to have ended, and its usage at that time. */
  readonly ended: { readonly at: number; readonly usage: Usage } | null;
}

/**
 * Limits of keys and tenants. Work reserves before it begins; this gateway renews the reservation while the work continues and settles it by the
 * usage in the ledger, whether the client stays or not. Work of a key without limits needs no reservation.
 */
@Injectable()
export class Reservations implements OnApplicationShutdown {
  private readonly held = new Map<string, Held>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | null = null;
  private lookingAgain: Promise<void> | null = null;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'pollMs' | 'reservationLeaseMs' | 'retryAfterS'>,
    @Inject(STATE) private readonly state: Pick<StateStore, 'allowances' | 'runs' | 'usage'>,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  /**
   * Reserves for the owner of the request's key and for the end user whom the request names, and sets the headers of its limits. Returns null for a
   * key without limits. Throws RATE_LIMITED, BUDGET_SPENT, STORE_UNAVAILABLE; then nothing is reserved.
   */
  async reserve(request: Request, user: string | undefined, plan: () => PlannedWork): Promise<Room | null> {
    const limited = await this.callers.limitsOf(request, user);
    if (!limited) return null;
    const { runId, sort, ...work } = plan();
    const { tenant, accounts } = limited;
    const leaseMs = this.limits.reservationLeaseMs;
    const reserve = (): Promise<Reserved> => this.state.allowances.reserve({ tenant, runId, accounts, ...work, leaseMs });
    let reserved = await reserve();
    // A client that has its answer may ask again at once, before the next look has settled what its run reserved.
    if (reserved.kind === 'refused' && mayBeHeld(reserved) && this.holdsRunOf(tenant)) {
      await this.lookAgain();
      reserved = await reserve();
    }
    if (request.res) showHeadrooms(request.res, reserved.headrooms);
    if (reserved.kind === 'refused') throw this.refused(reserved);
    this.held.set(runId, { tenant, sort, renewAt: performance.now() + leaseMs / 4, ended: null });
    this.timer ??= setInterval(() => void (this.looking ?? this.look()), this.limits.pollMs).unref();
    return reserved.room;
  }

  /** Ends a reservation with the actual usage. Never rejects: a reservation that cannot be settled expires, and its work is charged from the ledger. */
  async settle(runId: string, usage: Usage): Promise<void> {
    const held = this.held.get(runId);
    if (!held) return;
    this.forget(runId);
    try {
      await this.state.allowances.settle({ tenant: held.tenant, runId, usage });
    } catch (error) {
      this.options.logger.warn('a reservation could not be settled', { run: runId, error });
    }
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Settles runs that have ended and renews the reservations of all others. Never rejects. */
  private look(): Promise<void> {
    return (this.looking = this.lookAtAll().finally(() => (this.looking = null)));
  }

  /** Looks after a look in progress, which may have missed an end. Refusals at the same time share one look. */
  private lookAgain(): Promise<void> {
    return (this.lookingAgain ??= (this.looking ?? Promise.resolve()).then(() => {
      this.lookingAgain = null;
      return this.look();
    }));
  }

  private async lookAtAll(): Promise<void> {
    try {
      const open = [...this.held].filter(([, { sort, ended }]) => sort === 'run' && !ended).map(([runId]) => runId);
      // Includes runs that are only flagged: they may have ended.
      const flagged = open.length > 0 ? await this.state.runs.cancelled(open) : new Set<string>();
      for (const [runId, held] of [...this.held]) await this.lookAt(runId, held, flagged.has(runId));
    } catch (error) {
      this.options.logger.warn('reservations could not be renewed or settled', { error });
    }
  }

  private async lookAt(runId: string, held: Held, mayHaveEnded: boolean): Promise<void> {
    const { tenant, sort, ended } = held;
    const now = performance.now();
    if (ended) {
      if (now - ended.at < lateMs) return;
      const usage = await this.state.usage.ofRun(runId);
      if (usage.calls !== ended.usage.calls) await this.state.allowances.settle({ tenant, runId, usage });
      this.forget(runId);
    } else if (mayHaveEnded && (await this.state.runs.read(runId))?.terminal) {
      const usage = await this.state.usage.ofRun(runId);
      await this.state.allowances.settle({ tenant, runId, usage });
      this.held.set(runId, { ...held, ended: { at: now, usage } });
    } else if (now >= held.renewAt) {
      const leaseMs = this.limits.reservationLeaseMs;
      // The usage of a call is known only at its end.
      const usage = sort === 'run' ? await this.state.usage.ofRun(runId) : noUsage;
      await this.state.allowances.renew({ tenant, runId, usage, leaseMs });
      if (this.held.get(runId) === held) this.held.set(runId, { ...held, renewAt: now + leaseMs / 4 });
    }
  }

  private holdsRunOf(tenant: string): boolean {
    return [...this.held.values()].some((held) => held.tenant === tenant && held.sort === 'run' && !held.ended);
  }

  private forget(runId: string): void {
    this.held.delete(runId);
    if (this.held.size === 0) this.timer = void clearInterval(this.timer);
  }

  private refused({ account, limit, spent, retryAfterMs }: LimitRefusal): Failure {
    const owner =
      account === tenantAccount
        ? 'The keys of this tenant together are'
        : isUserAccount(account)
          ? 'The end user whom this request names is'
          : 'This API key is';
    const detail = `${owner} at the limit: ${limitWords[limit]}${spent || !isBudget(limit) ? '' : ', while work that has reserved part of it is in progress'}.`;
    return new Failure(spent ? 'BUDGET_SPENT' : 'RATE_LIMITED', detail, { retryAfterMs: retryAfterMs ?? this.limits.retryAfterS * 1000 });
  }
}

const limitWords: Readonly<Record<keyof KeyLimits, string>> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  concurrent_runs: 'open runs and calls',
  tokens_per_day: 'tokens per day',
  tokens_per_month: 'tokens per month',
  cost_per_day: 'cost per day',
  cost_per_month: 'cost per month',
};

/** Whether what refused may be held by work that has ended: not what was spent, and not requests of the last minute. */
const mayBeHeld = ({ limit, spent }: LimitRefusal): boolean => !spent && limit !== 'requests_per_minute';

const isBudget = (limit: keyof KeyLimits): boolean => /_(?:day|month)$/.test(limit);

/** The headers of OpenAI for each limit that is set. */
function showHeadrooms(response: Response, headrooms: Headrooms): void {
  if (response.headersSent) return;
  for (const [name, room] of Object.entries(headrooms) as [string, Headroom | null][]) {
    if (!room) continue;
    response.setHeader(`x-ratelimit-limit-${name}`, String(room.limit));
    response.setHeader(`x-ratelimit-remaining-${name}`, String(room.remaining));
    response.setHeader(`x-ratelimit-reset-${name}`, durationOf(room.resetMs));
  }
}

/** A duration in OpenAI's format: `120ms`, `17s`, `6m0s`, `2h3m0s`. */
function durationOf(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}h` : ''}${seconds >= 60 ? `${minutes}m` : ''}${seconds % 60}s`;
}
