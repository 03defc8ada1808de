import { execFileSync } from 'node:child_process';
import { HistoryWriter, TcpProxy, until } from '@conclave/test-support';
import type { Mode } from '@conclave/contracts';
import { allMetrics, System, plainTemplate, twoHops, type TwoHops } from '@conclave/test-support/system';
import type { Breach, Evidence, MemoryUse } from '../evidence/evidence.js';
import { committee, goodManners, type Manners } from './committee.js';
import { learningTemplate, Load, type LoadOptions } from './load.js';
import { WebhookReceiver } from './receiver.js';
import { openServers, type OwnServers, type SystemRequirements } from './servers.js';

/** One line of the table, for scenarios that contain several faults. */
export interface TableRow {
  readonly name: string;
  readonly outcome: string;
  /** Milliseconds from the fault to the end of the work it hit; null if nothing had to recover. */
  readonly recoveryMs: number | null;
  /** Runs of this row: findings with their ids belong to it. */
  readonly runs: readonly string[];
  /** For a cell of the kill matrix: runs of its own questions that were open when the process died. */
  readonly openRuns?: number;
}

/** A system under test with its servers, its fake models and its clients, while one scenario causes faults in it. */
export class World {
  readonly rows: TableRow[] = [];
  readonly load: Load;
  /** Records what a scenario itself appends to the log, so that it does not count as a record that was never sent. */
  readonly injector: HistoryWriter;
  /** Processes that were put to sleep, and when. */
  readonly frozen: { readonly process: string; readonly at: number; readonly signal: string }[] = [];
  /** Runs that the scenario itself ends without an answer. */
  readonly mayFail: string[] = [];
  /** What the scenario saw that breaks its promise. */
  readonly broken: Breach[] = [];
  /** When the last fault was caused, in milliseconds since 1970. */
  lastFaultAt: number | null = null;
  /** Set if the model server is made to fail calls, so that they are retried. */
  upstreamFaults = false;
  private manners: Manners = goodManners;
  /** Memory of each process before the storm. */
  before: readonly MemoryUse[] = [];

  private constructor(
    readonly mode: Mode,
    readonly system: System,
    readonly servers: OwnServers,
    gateways: number,
    readonly short: boolean,
    /** Whether a protection is off: then the checker must find what is missing, not the scenario. */
    readonly controlled: boolean,
    hops: TwoHops,
    /** Variables of every process. */
    readonly env: Readonly<Record<string, string>>,
    readonly receiver: WebhookReceiver | null,
  ) {
    this.load = new Load(system, hops, gateways);
    this.injector = new HistoryWriter(`${system.folder}/history.ndjson`, 'test', 'injector');
    system.models.add(...committee(() => this.manners, hops));
  }

  /** `without`: the protection that is switched off. */
  static async start(mode: Mode, wishes: SystemRequirements, without: string | null, short: boolean): Promise<World> {
    const hops = twoHops();
    const servers = await openServers(mode === 'distributed' ? wishes : {}, hops.documents);
    const receiver = wishes.receiver ? await WebhookReceiver.start() : null;
    const env = { ...wishes.env, ...receiver?.env };
    try {
      const system = await System.start({
        mode,
        corpus: hops.documents,
        configuration: {
          ...wishes.configuration,
          ...receiver?.configuration(),
          templates: {
            [learningTemplate]: { ...plainTemplate, strategy: 'single-pass', gap_check: 'evidence', learn: 'triples' },
            ...(wishes.configuration?.['templates'] as object | undefined),
          },
          ...(servers.searxUrl ? { search: { searxng: servers.searxUrl } } : {}),
        },
        gateways: wishes.gateways ?? 1,
        experts: wishes.experts ?? 1,
        servers: servers.addresses,
        faults: true,
        crashAt: wishes.crashAt ?? {},
        env: { ...env, ...(without ? { WITHOUT_PROTECTION: without } : {}) },
        modelUrl: async (own) => {
          if (!wishes.proxied?.includes('model')) return own;
          servers.proxies.model = await TcpProxy.open({ target: { host: '127.0.0.1', port: Number(new URL(own).port) } });
          return own.replace(/:\d+/, `:${servers.proxies.model.port}`);
        },
      });
      return new World(
        mode,
        system,
        servers,
        mode === 'embedded' ? 1 : (wishes.gateways ?? 1),
        short,
        without !== null,
        hops,
        env,
        receiver,
      );
    } catch (error) {
      await receiver?.close();
      await servers.close();
      throw error;
    }
  }

  /** From now on the fake models behave like this. */
  behave(manners: Partial<Manners>): void {
    this.manners = { ...goodManners, ...manners };
  }

  /** Runs that work normally, before any fault: measurements of memory and recovery start from here. */
  async warmUp(options: Partial<LoadOptions> = {}): Promise<void> {
    await this.load.run({ runs: 3, atOnce: 3, name: 'warm', ...options });
    this.before = await this.memory();
  }

  /** Records that a fault is being caused now. */
  fault(what: string, id = what): number {
    this.lastFaultAt = Date.now();
    this.injector.write('fault', 'info', id, { what });
    return this.lastFaultAt;
  }

  /** Records that the promise of the scenario was not kept for a run, a call or a file; the checker reports it. */
  breaks(id: string, sentence: string): void {
    this.broken.push({ id, sentence });
  }

  row(row: TableRow): void {
    this.rows.push(row);
  }

  async memory(): Promise<MemoryUse[]> {
    return [...this.system.all()].flatMap(([process, { pid }]) => {
      const mb = pid === null ? null : residentMb(pid);
      return mb === null ? [] : [{ process, beforeMb: mb, afterMb: mb }];
    });
  }

  /** Whether every group finishes everything on the log within this time. */
  async calm(timeoutMs = 30_000): Promise<boolean> {
    return (await this.unfinished(timeoutMs)).length === 0;
  }

  /**
   * Waits, at most for this long, until every group has finished everything on the log, and returns what is left. Processes are read one
   * after the other, so work that moves from one to the next at that moment is seen in neither: only several readings in a row count.
   */
  async unfinished(timeoutMs: number): Promise<Evidence['lag']> {
    let left: Evidence['lag'] = [];
    let calmReadings = 0;
    try {
      await until(
        'the end of all work',
        async () => {
          left = (await allMetrics(this.system))
            .filter(({ name, value }) => name === 'conclave_consumer_lag_records' && value > 0)
            .map(({ labels, value }) => ({ group: labels['group'] ?? '', topic: labels['topic'] ?? '', records: value }));
          calmReadings = left.length === 0 ? calmReadings + 1 : 0;
          return calmReadings === 3;
        },
        { timeoutMs, everyMs: 250 },
      );
    } catch (error) {
      // Anything left over is evidence, which the check `calm-afterwards` reports. A process that reports nothing is evidence itself.
      if (left.length === 0 && calmReadings === 0) left = [{ group: 'metrics', topic: String((error as Error).cause), records: 1 }];
    }
    return left;
  }

  async stop(): Promise<void> {
    await this.load.stop();
    await this.system.stop();
    await this.receiver?.close();
    await this.servers.proxies.model?.close();
    await this.servers.close();
  }
}

/** Resident memory of a process in MB according to the operating system; null if the process has ended. */
function residentMb(pid: number): number | null {
  try {
    return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8', timeout: 10_000 }).trim()) / 1024);
  } catch {
    // ps ends with status 1 for a process that has ended.
    return null;
  }
}
