import { Failure, isTerminal, type Caller, type StreamEntry } from '@conclave/contracts';
import type { AcceptedRun, CheckedRequest } from '@conclave/service-gateway';
import { hashText, type Random } from '../faults/random.js';
import { triesToLeave } from '../faults/storm-plan.js';
import type { ObservedClient } from './observations.js';
import { sleep } from './virtual-time.js';
import { simulatedWebhook } from './simulated-receiver.js';
import type { LivingProcess, Surroundings } from './surroundings.js';

export interface ClientPlan {
  readonly name: string;
  readonly startsAt: number;
  /** If it sends no Idempotency-Key, only a retry header says that a request is a retry. */
  readonly idempotent: boolean;
  /** The value of its Idempotency-Key. */
  readonly key: string;
  readonly tenant: string;
  readonly template: 'committee' | 'waves' | 'tree';
  readonly question: string;
  /** Cancels by command, or by leaving, this many milliseconds after its run was accepted. */
  readonly cancelsAfter: number | null;
  readonly leaves: boolean;
  /** Milliseconds after which it considers its first request lost, like a client with a short time-out; null for a patient client. */
  readonly impatientMs: number | null;
  /** Leaves the stream and comes back with the last id it has seen, this many times. */
  readonly reconnects: number;
  /** Pauses its run this many milliseconds after it was accepted, and resumes it later. */
  readonly pausesAfter: number | null;
}

/** Milliseconds a client waits for an answer to its request, and for its stream. */
const requestPatienceMs = 20_000;
const streamPatienceMs = 200_000;
const lost = Symbol('lost');

/** An HTTP client: asks, retries as SDKs do, and follows its run across gateways that come and go. */
export class SimulatedClient {
  readonly seen: ObservedClient;
  readonly caller: Caller;
  private readonly random: Random;

  constructor(
    private readonly world: Surroundings,
    private readonly plan: ClientPlan,
    random: Random,
  ) {
    this.random = random.fork(plan.name);
    this.caller = { tenant: plan.tenant, actor: 'client' };
    this.seen = {
      name: plan.name,
      key: plan.idempotent ? this.repeatKey() : null,
      requests: [],
      seen: new Map(),
      ended: new Set(),
      gone: new Set(),
      cancelled: false,
      finished: false,
    };
    world.observations.clients.push(this.seen);
  }

  async live(): Promise<void> {
    await sleep(this.plan.startsAt);
    const run = await this.ask();
    if (run) await this.follow(run);
    this.seen.finished = true;
  }

  /** The run this client waits for; null if it was finally refused. */
  private async ask(): Promise<string | null> {
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const gateway = await this.world.someGateway(this.random);
      const request: ObservedClient['requests'][number] = { at: Date.now(), outcome: 'unknown', runId: null, attached: false, code: null };
      this.seen.requests.push(request);
      const patienceMs = attempt === 0 ? (this.plan.impatientMs ?? requestPatienceMs) : requestPatienceMs;
      const clientId = `${this.plan.name}-${attempt}`;
      const known = async ({ runId }: AcceptedRun): Promise<void> => {
        if (this.plan.leaves) await gateway.state.runs.attach(runId, clientId);
      };
      try {
        const run = await this.overConnection(gateway, gateway.gateway!.acceptance.accept(this.asked(attempt), known), patienceMs);
        if (run !== lost) {
          Object.assign(request, { outcome: 'ok', runId: run.runId, attached: run.attached });
          this.planCancel(run.runId, clientId);
          this.planPause(run.runId);
          return run.runId;
        }
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        Object.assign(request, { outcome: 'fail', code: error.code });
      }
      await sleep(this.random.between(200, 2_000));
    }
    return null;
  }

  private asked(attempt: number): CheckedRequest {
    const { question, idempotent } = this.plan;
    const template = this.world.templates[this.plan.template];
    const key = this.repeatKey();
    return {
      question: {
        model: template.id,
        goal: question,
        documents: [],
        earlier: [],
        conversation: [],
        system: null,
        answer: {},
        given: [],
        options: { rounds: null, limits: {}, complexity: null, progress: null, detail: null, cache: true, webhook: simulatedWebhook },
      },
      template,
      caller: this.caller,
      origin: this.plan.leaves ? 'chat' : 'runs',
      repeat: { key, idempotent, mayAttach: idempotent || attempt > 0, wayBack: 'none' },
    };
  }

  private repeatKey(): string {
    const { key, question, idempotent, template, tenant } = this.plan;
    return hashText(`${tenant} ${idempotent ? key : ''} ${template} ${question}`)
      .toString(16)
      .padStart(8, '0')
      .repeat(8);
  }

  private planPause(runId: string): void {
    const { pausesAfter } = this.plan;
    if (pausesAfter === null) return;
    const tell = (name: 'pause' | 'resume', afterMs: number): void => this.world.later(afterMs, () => void this.command(runId, { name }));
    tell('pause', pausesAfter);
    tell('resume', pausesAfter + this.random.between(100, 6_000));
  }

  private async command(runId: string, command: { readonly name: 'pause' | 'resume' }): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const gateway = await this.world.someGateway(this.random);
      const told = gateway.gateway!.commands.issue(runId, this.caller.actor, command).then(
        () => 'told' as const,
        () => 'failed' as const,
      );
      if ((await this.overConnection(gateway, told, requestPatienceMs)) === 'told') return;
    }
  }

  private planCancel(runId: string, clientId: string): void {
    const { cancelsAfter, leaves } = this.plan;
    if (cancelsAfter === null || this.seen.cancelled) return;
    this.seen.cancelled = true;
    setTimeout(() => void this.cancel(runId, clientId, leaves), cancelsAfter);
  }

  private async cancel(runId: string, clientId: string, leaves: boolean): Promise<void> {
    for (let attempt = 0; attempt < triesToLeave; attempt += 1) {
      const gateway = await this.world.someGateway(this.random);
      const { commands } = gateway.gateway!;
      const told = leaves
        ? commands.leave(runId, clientId, this.caller, 'none')
        : commands.issue(runId, this.caller.actor, { name: 'cancel', reason: 'the client asked for it' }).then(() => undefined);
      const said = await this.overConnection(
        gateway,
        told.then(
          () => 'told' as const,
          () => 'failed' as const,
        ),
        requestPatienceMs,
      );
      if (said === 'told') return;
    }
  }

  /** Follows the stream to its end over as many connections as it takes. */
  private async follow(runId: string): Promise<void> {
    const ids = this.seen.seen.get(runId) ?? [];
    this.seen.seen.set(runId, ids);
    const until = Date.now() + streamPatienceMs;
    let leavesLeft = this.plan.reconnects;
    while (!this.seen.ended.has(runId) && !this.seen.gone.has(runId) && Date.now() < until) {
      const gateway = await this.world.someGateway(this.random);
      const stayMs = leavesLeft > 0 ? this.random.between(100, 3_000) : until - Date.now();
      leavesLeft -= 1;
      await this.connection(gateway, runId, ids, stayMs);
    }
  }

  private async connection(gateway: LivingProcess, runId: string, ids: number[], stayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const leave = (): void => {
        clearTimeout(patience);
        following.stop();
        resolve();
      };
      const patience = setTimeout(leave, stayMs);
      const viewer = {
        cursor: ids.at(-1) ?? 0,
        ready: () => !gateway.dead,
        take: (entries: readonly StreamEntry[]) => {
          if (gateway.dead) return;
          ids.push(...entries.map(({ id }) => id));
          if (!entries.some(isTerminal)) return;
          this.seen.ended.add(runId);
          leave();
        },
        lost: () => undefined,
        failed: (error: unknown) => {
          // Its owner has deleted the run: nothing more can be received.
          if (!(error instanceof Failure && error.code === 'RUN_ERASED')) throw error;
          this.seen.gone.add(runId);
          leave();
        },
      };
      const following = gateway.gateway!.hub.follow(runId, viewer, true);
      void gateway.gone().then(leave);
    });
  }

  /** Resolves with what arrives over a connection to a gateway, or with `lost` if the connection breaks or takes too long. */
  private overConnection<T>(gateway: LivingProcess, work: Promise<T>, patienceMs: number): Promise<T | typeof lost> {
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => resolve(lost), patienceMs);
      const settle = (): void => clearTimeout(patience);
      work.then(resolve, reject).finally(settle);
      void gateway.gone().then(() => resolve(lost));
    });
  }
}
