import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asWritten, rulesFile, type Duration } from '@conclave/test-support/monitoring';
import { until } from '@conclave/test-support';
import { freePorts } from '@conclave/test-support/system';

export interface Target {
  /** Name of the service. */
  readonly job: string;
  /** `host:port`. */
  readonly address: string;
}

export interface Alerting {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Divides durations by `by`, but keeps them long enough for several scrapes, because a process on a busy machine may miss one. */
const shortened =
  (by: number): Duration =>
  (seconds) =>
    `${Math.max(15, Math.ceil(seconds / by))}s`;

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly { readonly metric: Record<string, string>; readonly values?: readonly [number, string][] }[];
  };
}

/** A Prometheus server of a test, with the rules of the product. */
export class Prometheus {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
    private readonly folder: string,
    /** Seconds between two scrapes. */
    readonly scrapeS: number,
  ) {}

  /**
   * With `fast`, Prometheus scrapes every two seconds, and every duration of the rules is divided by `by`. Without it, Prometheus runs as in
   * docker-compose.yml.
   */
  static async start(targets: readonly Target[], { fast, by = 30 }: { readonly fast: boolean; readonly by?: number }): Promise<Prometheus> {
    const scrapeS = fast ? 2 : 15;
    const folder = mkdtempSync(join(tmpdir(), 'conclave-prometheus-'));
    const [port] = await freePorts(1);
    writeFileSync(join(folder, 'rules.yml'), rulesFile(fast ? shortened(by) : asWritten, `${scrapeS}s`));
    const jobs = [...new Set(targets.map(({ job }) => job))];
    const configuration = {
      global: { scrape_interval: `${scrapeS}s`, scrape_timeout: `${scrapeS}s`, evaluation_interval: `${scrapeS}s` },
      rule_files: ['rules.yml'],
      scrape_configs: jobs.map((job) => ({
        job_name: job,
        static_configs: [{ targets: targets.filter((target) => target.job === job).map(({ address }) => address) }],
      })),
    };
    // JSON is valid YAML.
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration));
    const child = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=warn',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
    const server = new Prometheus(child, `http://127.0.0.1:${port}`, folder, scrapeS);
    try {
      await once(child, 'spawn');
      await until(
        'Prometheus to be ready',
        async () => {
          if (child.exitCode !== null) throw new Error(`Prometheus ended.\n${said}`);
          return (await fetch(`${server.url}/-/ready`).catch(() => null))?.ok ?? false;
        },
        { timeoutMs: 30_000, everyMs: 100 },
      );
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** Waits until every target has been scraped. */
  async seesAll(timeoutMs = 60_000): Promise<void> {
    await until(
      'every target to be up',
      async () => {
        const found = (await this.get('/api/v1/targets')) as { data: { activeTargets: readonly { health: string }[] } };
        return found.data.activeTargets.length > 0 && found.data.activeTargets.every(({ health }) => health === 'up');
      },
      { timeoutMs, everyMs: 200 },
    );
  }

  /**
   * Series of an expression between two times in seconds since 1970, with their finite values. Throws the error of Prometheus for an
   * invalid one.
   */
  async range(
    expr: string,
    from: number,
    to: number,
  ): Promise<readonly { readonly labels: Record<string, string>; readonly values: number[] }[]> {
    const query = new URLSearchParams({ query: expr, start: String(from), end: String(to), step: String(this.scrapeS) });
    const answer = (await this.get(`/api/v1/query_range?${query.toString()}`)) as Answer;
    if (answer.status !== 'success') throw new Error(`${answer.error}: ${expr}`);
    return (answer.data?.result ?? []).map(({ metric, values = [] }) => ({
      labels: metric,
      values: values.map(([, value]) => Number(value)).filter(Number.isFinite),
    }));
  }

  /** Alerts that fired at any moment between two times in seconds since 1970. */
  async fired(from: number, to: number): Promise<readonly Alerting[]> {
    const series = await this.range('ALERTS{alertstate="firing"}', from, to);
    return series.map(({ labels }) => ({ name: labels['alertname']!, labels }));
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.pid) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      const timer = setTimeout(() => this.child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async get(path: string): Promise<unknown> {
    return (await fetch(`${this.url}${path}`)).json();
  }
}

export const nowS = (): number => Date.now() / 1_000;
