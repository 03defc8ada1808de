import { Controller, Get, Inject, Req } from '@nestjs/common';
import pTimeout from 'p-timeout';
import type { ServicesReport } from '@conclave/contracts';
import { serviceOfGroup } from '@conclave/platform';
import { DeadLetters, EVENT_LOG, type EventLog, STATE, type StateStore } from '@conclave/ports';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { Health } from '../operations/health.js';

/** Milliseconds that a store, the lag of a group, or the topic of dead letters may take. */
const patienceMs = 3_000;
/** Milliseconds for which a count of dead letters is reused: each one reads the whole topic. */
const deadForMs = 5_000;

type Dependency = ServicesReport['dependencies'][number];

/** Shows operators which processes run, which work waits, and which stores are away. */
@Controller('v1/admin/services')
export class ServicesController {
  private readonly letters: DeadLetters;
  private dead: { readonly count: Promise<number | null>; readonly until: number } | null = null;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Health) private readonly health: Health,
  ) {
    this.letters = new DeadLetters({ log, runOf: (runId) => state.runs.read(runId) });
  }

  @Get()
  async report(@Req() request: Request): Promise<ServicesReport> {
    await this.callers.identifyOperator(request);
    const { version = '', processId = null, groups = [] } = this.options;
    const [live, consumers, dependencies, dead, red] = await Promise.all([
      within(this.state.leases.live(), []),
      Promise.all(groups.map((group) => this.consumerOf(group))),
      this.dependencies(),
      this.openDead(),
      this.health.red(),
    ]);
    return {
      object: 'services',
      version,
      uptime_s: Math.round(process.uptime()),
      processes: [...live].sort().map((id) => ({ id, ...partsOf(id), self: id === processId })),
      consumers,
      dependencies,
      dead_letters: dead,
      problems: [...red],
    };
  }

  private async consumerOf(group: string): Promise<ServicesReport['consumers'][number]> {
    const lag = await within(this.log.lag(group), null);
    const topics = new Map<string, number>();
    for (const { topic, records } of lag ?? []) topics.set(topic, (topics.get(topic) ?? 0) + records);
    return {
      group,
      service: serviceOfGroup(group),
      lag: lag && [...topics.values()].reduce((sum, records) => sum + records, 0),
      topics: [...topics].map(([topic, records]) => ({ topic, lag: records })),
    };
  }

  private async dependencies(): Promise<Dependency[]> {
    const { graph, vectors, embedder, models } = this.options;
    const asked: readonly (readonly [string, { health(): Promise<string | null> } | null | undefined])[] = [
      ['event log', this.log],
      ['state store', this.state],
      ['knowledge graph', graph],
      ['vectors', vectors],
      ['embedder', embedder],
    ];
    const stores = await Promise.all(asked.map(([name, port]) => stateOf(name, port ? () => port.health() : null)));
    const providers = await within(models.providers(), []);
    const servers = providers.map(({ name, reachable, note }): Dependency => {
      return { name: `model server ${name}`, state: reachable ? 'ok' : 'red', sentence: note || null, ms: 0 };
    });
    return [...stores, ...servers];
  }

  private openDead(): Promise<number | null> {
    if (!this.dead || Date.now() >= this.dead.until) {
      const count = within(
        this.letters.list({ all: false }, { limit: 1 }).then(({ total }) => total),
        null,
      );
      this.dead = { count, until: Date.now() + deadForMs };
    }
    return this.dead.count;
  }
}

/** Returns `otherwise` when the port throws or does not answer in time. */
const within = <T, E>(answer: Promise<T>, otherwise: E): Promise<T | E> =>
  pTimeout<T | E, E>(answer, { milliseconds: patienceMs, fallback: () => otherwise }).catch(() => otherwise);

async function stateOf(name: string, ask: (() => Promise<string | null>) | null): Promise<Dependency> {
  if (!ask) return { name, state: 'absent', sentence: null, ms: 0 };
  const began = performance.now();
  const sentence = await pTimeout(ask(), { milliseconds: patienceMs, fallback: () => `It does not answer within ${patienceMs} ms.` }).catch(
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return { name, state: sentence === null ? 'ok' : 'red', sentence, ms: Math.round(performance.now() - began) };
}

/** Ids are `<service>-<host>-<pid>-<8 hexadecimal digits>`; names of hosts and services may contain dashes. */
function partsOf(id: string): { readonly service: string; readonly host: string | null } {
  const [, service, host] =
    /^(standalone|gateway|planner|experts|merger|learning|graph-ingest|webhooks)-(.+)-\d+-[0-9a-f]{8}$/.exec(id) ?? [];
  return { service: service ?? id, host: host ?? null };
}
