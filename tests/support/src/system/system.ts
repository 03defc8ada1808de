import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mode } from '@conclave/contracts';
import { HistoryWriter, readHistory, ScriptedModelServer, Supervised, type Exit, type HistoryEntry } from '../index.js';
import { cleared, freePorts, removeTraces, stackAddresses, workspaceRoot, type Stack } from './stack.js';

export type ServiceName = 'gateway' | 'planner' | 'experts' | 'merger' | 'graph-ingest';
const workers = ['planner', 'experts', 'merger', 'graph-ingest'] as const;

/** The mode that this run of the suite tests: TEST_MODE, embedded by default. */
export function testedMode(): Mode {
  const mode = process.env['TEST_MODE'] ?? 'embedded';
  if (mode !== 'embedded' && mode !== 'distributed') throw new Error(`TEST_MODE is "${mode}"; it must be embedded or distributed.`);
  return mode;
}

export interface SystemOptions {
  /** TEST_MODE if absent. */
  readonly mode?: Mode;
  /**
   * Sections of conclave.yaml in addition to `providers.fake`, `models` and `stores`; a section with the same key replaces ours, except
   * that templates and stores are merged with ours.
   */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** Documents of the corpus: file name -> text. */
  readonly corpus?: Readonly<Record<string, string>>;
  /** Where a service with `faults` kills itself; in embedded mode at most one point. */
  readonly crashAt?: Partial<Record<ServiceName, string>>;
  /** Starts the programs of the fault tests, which write a history and can be told to die; otherwise the shipped programs. */
  readonly faults?: boolean;
  /** Gateways in distributed mode; embedded mode has one. */
  readonly gateways?: 1 | 2;
  /** No provider at all: the product must use its demo model. */
  readonly demo?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Port of the first gateway, a free one by default. */
  readonly port?: number;
  /** Expert workers in distributed mode, 1 by default. */
  readonly experts?: number;
  /** Addresses of servers to use instead of the shared ones, such as those of proxies. */
  readonly servers?: Partial<Stack>;
  /** Address of the model server as the services see it, such as that of a proxy; with /v1. */
  readonly modelUrl?: (own: string) => Promise<string> | string;
  /** Variables of one service, on top of `env`. */
  readonly serviceEnv?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
}

/** Fewer partitions than in production: twelve topics are created with every system. */
const partitions = 4;

/** A running system under test: its processes, the fake model server behind it, and everything they wrote. */
export class System {
  private constructor(
    readonly mode: Mode,
    readonly folder: string,
    readonly models: ScriptedModelServer,
    readonly stack: Stack | null,
    readonly prefix: string,
    private readonly gatewayPorts: readonly number[],
    /** Admin ports of the gateways. */
    private readonly gatewayAdminPorts: readonly number[],
    private readonly adminPorts: Map<string, number>,
    private readonly processes: Map<string, Supervised>,
    private readonly options: SystemOptions,
  ) {}

  static async start(options: SystemOptions = {}): Promise<System> {
    const mode = options.mode ?? testedMode();
    const folder = mkdtempSync(join(tmpdir(), 'conclave-system-'));
    const stack = mode === 'distributed' ? { ...stackAddresses(), ...options.servers } : null;
    const history = new HistoryWriter(join(folder, 'history.ndjson'), 'test', 'model');
    const models = await ScriptedModelServer.start({ models: ['scripted', 'other'], apiKey: providerKey, history });
    // Systems of one program may start in the same millisecond.
    const prefix = `test-${process.pid}-${Date.now().toString(36)}-${randomBytes(3).toString('hex')}.`;
    const modelUrl = await (options.modelUrl?.(models.url) ?? models.url);
    writeInput(folder, modelUrl, mode, prefix, stack, options);
    const gatewayPorts = await freePorts(mode === 'embedded' ? 1 : (options.gateways ?? 1));
    const admin = await freePorts(gatewayPorts.length);
    const ports = options.port === undefined ? gatewayPorts : [options.port, ...gatewayPorts.slice(1)];
    const system = new System(mode, folder, models, stack, prefix, ports, admin, new Map(), new Map(), options);
    const launches: Promise<unknown>[] =
      mode === 'embedded'
        ? [
            system.launch('standalone', 'standalone', ports[0]!, {
              PORT: String(ports[0]),
              ADMIN_PORT: String(admin[0]),
              CRASH_AT: onlyPoint(options),
            }),
          ]
        : [
            ...ports.map((port, n) =>
              system.launch(`gateway-${n + 1}`, 'gateway', port, {
                PORT: String(port),
                ADMIN_PORT: String(admin[n]),
                CRASH_AT: n === 0 ? options.crashAt?.gateway : undefined,
              }),
            ),
            ...workers.map((name) => system.addWorker(name, name, options.crashAt?.[name])),
            ...Array.from({ length: (options.experts ?? 1) - 1 }, (_, n) => system.addWorker('experts', `experts-${n + 2}`)),
          ];
    const started = await Promise.allSettled(launches);
    const failed = started.find((one) => one.status === 'rejected');
    if (failed) {
      await system.stop();
      throw failed.reason;
    }
    return system;
  }

  /** Address of a gateway, without /v1. Embedded mode has only one, whatever `n` is. */
  url(n = 1): string {
    return `http://127.0.0.1:${this.gatewayPorts[Math.min(n, this.gatewayPorts.length) - 1]}`;
  }
  /** Addresses with metrics, one for each process. */
  metricUrls(): readonly string[] {
    return [...this.gatewayAdminPorts, ...this.adminPorts.values()].map((port) => `http://127.0.0.1:${port}`);
  }
  /** Address with the metrics of the process with this name. */
  metricUrl(name: string): string {
    const nth = name.startsWith('gateway-') ? Number(name.slice('gateway-'.length)) : 1;
    return `http://127.0.0.1:${this.adminPorts.get(name) ?? this.gatewayAdminPorts[nth - 1]}`;
  }
  /** Addresses with /health, one for each process; for a gateway, its public one. */
  healthUrls(): readonly string[] {
    return [...this.processes.keys()].map((name) => this.healthUrl(name));
  }
  /** Address with /health of the process with this name. */
  healthUrl(name: string): string {
    return this.adminPorts.has(name)
      ? this.metricUrl(name)
      : this.url(name.startsWith('gateway-') ? Number(name.slice('gateway-'.length)) : 1);
  }
  /** Every process by its name: `standalone`, or `gateway-1`, `planner`, `experts`, `experts-2` ... */
  all(): ReadonlyMap<string, Supervised> {
    return this.processes;
  }
  /** Starts one more process of a service; resolves when it is ready. */
  async addWorker(service: (typeof workers)[number], name: string, crashAt?: string): Promise<Supervised> {
    const port = this.adminPorts.get(name) ?? (await freePorts(1))[0]!;
    this.adminPorts.set(name, port);
    return this.launch(name, service, port, { ADMIN_PORT: String(port), CRASH_AT: crashAt });
  }
  /** Stops a process in an orderly way and forgets it. */
  async removeWorker(name: string, graceMs?: number): Promise<Exit | null> {
    const exit = await this.processes.get(name)!.stop(graceMs);
    this.processes.delete(name);
    this.adminPorts.delete(name);
    return exit;
  }
  /** The process in which a service runs. */
  process(service: ServiceName, n = 1): Supervised {
    const name = this.mode === 'embedded' ? 'standalone' : service === 'gateway' ? `gateway-${n}` : service;
    return this.processes.get(name)!;
  }
  /** Everything that all processes printed. */
  output(): string {
    return [...this.processes].map(([name, process]) => `==== ${name}\n${process.output()}`).join('\n');
  }
  history(): readonly HistoryEntry[] {
    return readHistory(join(this.folder, 'history.ndjson'));
  }
  /** Data folder in embedded mode. */
  get home(): string {
    return join(this.folder, 'data');
  }
  /** What a process or a command of the same installation needs. */
  environment(): Record<string, string> {
    return {
      CONCLAVE_HOME: this.home,
      CONCLAVE_CONFIG: join(this.folder, 'conclave.yaml'),
      HISTORY_FILE: join(this.folder, 'history.ndjson'),
      FAKE_PROVIDER_KEY: providerKey,
      CONCLAVE_ADMIN_KEY_FILE: join(this.folder, 'admin.key'),
      ...this.stack,
    };
  }

  /** Stops every process in an orderly way; removes its data and what it left on the shared servers. Safe to call twice. */
  async stop(): Promise<void> {
    await Promise.all([...this.processes.values()].map((process) => process.stop()));
    this.keepOutput();
    await this.models.close();
    if (this.stack) await removeTraces(this.stack, this.prefix, this.prefix);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async launch(name: string, app: string, port: number, env: Record<string, string | undefined>): Promise<Supervised> {
    const process = await Supervised.start({
      name,
      args: [join(workspaceRoot, 'dist', `${app}${this.options.faults ? '.faults' : ''}.js`)],
      cwd: this.folder,
      env: { ...cleared, ...this.environment(), ...this.options.env, ...this.options.serviceEnv?.[app as ServiceName], ...env },
      ready: `http://127.0.0.1:${port}/health/ready`,
      readyTimeoutMs: 90_000,
      restartAfterKill: true,
      restartEnv: { CRASH_AT: undefined },
    });
    this.processes.set(name, process);
    return process;
  }

  /** To inspect a failure: the output of each process is next to the results. */
  private keepOutput(): void {
    const folder = join(workspaceRoot, '.results/systems', this.mode);
    mkdirSync(folder, { recursive: true });
    for (const [name, process] of this.processes) writeFileSync(join(folder, `${this.prefix}${name}.txt`), process.output());
  }
}

/** Key with the role admin that every system under test accepts. */
export const adminKey = 'sk-admin-of-the-tests-3f8e1c';
/** Headers of a request by the admin, for any route. */
export const byAdmin = { 'x-api-key': adminKey } as const;

/** Key of the fake provider, which no log, error or metric may ever show. */
export const providerKey = 'sk-canary-5f1e0c9b7a';

function onlyPoint({ crashAt = {} }: SystemOptions): string | undefined {
  const points = Object.values(crashAt);
  if (points.length > 1) throw new Error('The embedded system is one process: it accepts only one crash point.');
  return points[0];
}

/** A committee whose calls a script can count: always planned, without caches, refinement and review. */
export const plainTemplate = {
  complexity: 'moderate',
  refine_rounds: 0,
  critic: [],
  caches: { answer: false, semantic: false, plan: false, search: false },
  capabilities: ['research'],
} as const;

/** The shipped templates, reduced to their loop. */
const loopTemplates = {
  'conclave-fast': { ...plainTemplate, strategy: 'single-pass', gap_check: 'evidence' },
  conclave: { ...plainTemplate, strategy: 'agentic', max_agentic_rounds: 3, gap_check: 'evidence' },
  'conclave-research': { ...plainTemplate, strategy: 'agentic', max_agentic_rounds: 4, gap_check: 'evidence' },
};

/** Sections of a test that are merged with ours instead of replacing them. */
const added: readonly string[] = ['templates', 'stores'];
const withoutAdded = (configuration: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(configuration).filter(([name]) => !added.includes(name)));

/** Writes conclave.yaml (JSON is valid YAML), the admin key and the corpus. */
function writeInput(folder: string, modelUrl: string, mode: Mode, prefix: string, stack: Stack | null, options: SystemOptions): void {
  writeFileSync(join(folder, 'admin.key'), adminKey);
  const corpus = join(folder, 'corpus');
  for (const [file, text] of Object.entries(options.corpus ?? {})) {
    mkdirSync(corpus, { recursive: true });
    writeFileSync(join(corpus, file), text);
  }
  const configuration = {
    ...(options.demo
      ? {}
      : {
          // One server plays all roles, and its faults last seconds, so it is tried again after one second.
          providers: {
            fake: { base_url: modelUrl, api_key_env: 'FAKE_PROVIDER_KEY', max_concurrency: 16, paid: false, breaker: { open_s: 1 } },
          },
          models: { 'scripted@fake': { context: 32_768 } },
        }),
    ...(options.corpus ? { search: { corpus: './corpus' } } : {}),
    templates: { ...(options.demo ? {} : loopTemplates), ...(options.configuration?.['templates'] as object | undefined) },
    stores: {
      ...(stack && mode === 'distributed'
        ? {
            kafka: {
              brokers: stack.KAFKA_BROKERS.split(','),
              topic_prefix: prefix,
              partitions,
            },
            redis: { url: stack.REDIS_URL, key_prefix: prefix },
            neo4j: { url: stack.NEO4J_URL },
            ...(stack.CHROMA_URL ? { chroma: { url: stack.CHROMA_URL } } : {}),
          }
        : {}),
      ...(options.configuration?.['stores'] as object | undefined),
    },
    // This adds a program to every system and a catalogue to every prompt, so only tests that ask for it get it.
    mcp: { precision: { enabled: false } },
    ...withoutAdded(options.configuration ?? {}),
  };
  writeFileSync(join(folder, 'conclave.yaml'), JSON.stringify(configuration, null, 2));
}
