import { type CapabilityPolicy, depthOf, Failure, type TaskDispatched } from '@conclave/contracts';
import type { Logger, Metrics } from '@conclave/platform';
import type { CallHealth, StateStore } from '@conclave/ports';
import { CircuitBreakers } from './circuit-breakers.js';
import { subjectOf, verifiedPolicies, type PermitKey } from './permit.js';
import { healthOf } from './provider-breaker.js';

export interface GuardParts {
  readonly state: Pick<StateStore, 'leases' | 'breakers'>;
  readonly metrics: Pick<Metrics, 'count'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly key: PermitKey;
}

/** One call of a task. */
export interface GuardedCall {
  readonly task: TaskDispatched;
  /** Id of the call. */
  readonly by: string;
  /** Milliseconds since 1970 by the store's clock. */
  readonly now: number;
  /** Milliseconds that the call may take. */
  readonly timeoutMs: number;
  /** Whether a reply says that the tool failed. */
  readonly isError?: ((reply: string) => boolean) | undefined;
}

/** Failures that show that a capability, or what it uses, is unavailable or broken, whatever the request was. */
const unwellCodes: ReadonlySet<string> = new Set([
  'SEARCH_UNAVAILABLE',
  'TOOL_FAILED',
  'TOOL_SERVER_UNAVAILABLE',
  'MATH_UNAVAILABLE',
  'GRAPH_UNAVAILABLE',
  'VECTORS_UNAVAILABLE',
]);

/**
 * Checks every call of a capability or tool in the process that makes it, in this order: the capability token, the policy (chain depth,
 * hours, rate), the circuit breaker. The whitelist and the registry are checked before; the time-out applies after.
 */
export class CapabilityGuard {
  private readonly breakers: CircuitBreakers;

  constructor(private readonly parts: GuardParts) {
    this.breakers = new CircuitBreakers(parts);
  }

  /** Throws PERMIT_INVALID, PERMIT_EXPIRED, CAPABILITY_TOO_DEEP, CAPABILITY_OUT_OF_HOURS, CAPABILITY_RATE_LIMITED, CAPABILITY_UNWELL. */
  async call(call: GuardedCall, perform: () => Promise<string>): Promise<string> {
    const { task, by, now } = call;
    const { tool, capability } = subjectOf(task);
    const name = tool ?? capability;
    const policies = verifiedPolicies(task, now, await this.parts.key.get());
    for (const policy of policies) await this.admit(name, task, policy, now);
    const { breaker } = policies.at(-1)!;
    const settle = await this.gate(name, task.data.tenant, breaker, by).enter();
    let health: CallHealth = 'neither';
    const begunAt = performance.now();
    try {
      const reply = await perform();
      const counted = breaker.counts === 'errors' ? 'unwell' : 'neither';
      health = call.isError?.(reply) ? counted : 'well';
      return reply;
    } catch (error) {
      const isFast = performance.now() - begunAt < delayMs;
      health = breaker.counts === 'delays' && isFast ? 'neither' : healthOf(error, call.timeoutMs, unwellCodes);
      throw error;
    } finally {
      await settle(health);
    }
  }

  private async admit(name: string, { runId, data }: TaskDispatched, policy: CapabilityPolicy, now: number): Promise<void> {
    const { chain_depth: deepest, hours, rate } = policy;
    const depth = depthOf(runId);
    if (depth > deepest) throw new Failure('CAPABILITY_TOO_DEEP', `${name}: ${depth} generations, ${deepest} are allowed.`);
    if (hours && !isWithin(hours, now))
      throw new Failure('CAPABILITY_OUT_OF_HOURS', `${name}: from ${hours.from} to ${hours.to} (${hours.timezone}).`);
    if (!rate) return;
    // These slots are never given back: each becomes free when its call is older than the window. A repeated task keeps its slot.
    const window = `${rateWindow}${rate.of === 'run' ? runId : data.tenant}:${name}`;
    const place = { name: window, limit: rate.calls, holder: data.taskId, ttlMs: rate.per_s * 1_000 };
    if (await this.parts.state.leases.acquireSlot(place)) return;
    const whose = rate.of === 'run' ? 'in a run' : 'of a tenant';
    throw new Failure('CAPABILITY_RATE_LIMITED', `${name}: ${rate.calls} in ${rate.per_s} s ${whose}.`);
  }

  private gate(name: string, tenant: string, { failures, open_s }: CapabilityPolicy['breaker'], by: string) {
    const { metrics, logger } = this.parts;
    return this.breakers.gate(
      {
        // No provider's name contains a colon. Each tenant has its own breaker, so that one tenant's arguments cannot block a tool for the
        // others.
        name: `capability:${tenant}:${name}`,
        settings: async () => ({ failures, window: failures, share: 1, openMs: open_s * 1_000 }),
        refusal: (retryInMs) =>
          new Failure('CAPABILITY_UNWELL', `${name} is tried again in ${Math.ceil(retryInMs / 1_000)} s.`, { retryAfterMs: retryInMs }),
        onOpened: () => {
          metrics.count('capability_breaker_openings_total', { capability: name });
          logger.warn('A capability failed too often and gets no calls for a while.', { capability: name });
        },
        onClosed: () => logger.info('A capability works again.', { capability: name }),
      },
      by,
    );
  }
}

/**
 * Milliseconds after which a failed call counts as a delay. A server that refuses at once keeps no caller waiting, and its recovery is
 * noticed by the next call.
 */
const delayMs = 1_000;

/** Prefix of the names under which calls are counted. */
export const rateWindow = 'rate:';

/** Whether the time of day is within the window; a window that ends before it begins includes midnight. */
function isWithin({ from, to, timezone }: NonNullable<CapabilityPolicy['hours']>, now: number): boolean {
  const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: timezone });
  const time = clock.format(now);
  return from <= to ? from <= time && time < to : from <= time || time < to;
}
