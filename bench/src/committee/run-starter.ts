import { makeEvent, PlanRequested, type RunCompletedEntry, type Template } from '@conclave/contracts';
import type { Ports } from '@conclave/platform';
import { answer, callsPerRun, question, rounds } from './replies.js';
import { committeeTemplate } from './template.js';

/** Milliseconds after which the benchmark considers a run lost. */
const patienceMs = 120_000;

/**
 * Starts runs like the gateway (header, then event) and waits for their ends like the gateway (a hint for every append, then a
 * read of new entries), without HTTP.
 */
export class RunStarter {
  private readonly looks = new Map<string, () => void>();
  private unsubscribe: (() => Promise<void>) | null = null;

  private constructor(
    private readonly ports: Pick<Ports, 'log' | 'state' | 'stream'>,
    private readonly template: Template,
    private readonly calls: number,
  ) {}

  /** `calls`: expected model calls per run. */
  static async open(
    ports: Pick<Ports, 'log' | 'state' | 'stream'>,
    template = committeeTemplate,
    calls = callsPerRun,
  ): Promise<RunStarter> {
    const starter = new RunStarter(ports, template, calls);
    starter.unsubscribe = await ports.state.hints.subscribe('stream', (runId) => starter.looks.get(runId)?.());
    return starter;
  }

  /** One run from acceptance to its terminal entry. Throws if it does not end as scripted. */
  async run(runId: string): Promise<void> {
    const header = requestOf(runId, this.template);
    const ended = this.ended(runId);
    await this.ports.state.runs.accept({ header, retryKey: null, openLimit: 1_000 });
    await this.ports.log.publish([header]);
    const end = await ended;
    if (end.outcome !== 'completed' || end.answer !== answer || end.rounds !== rounds || end.usage.calls !== this.calls)
      throw new Error(`The run did not end as scripted:\n${await this.story(runId)}`);
  }

  /** The entries of the run without its text and its lines of progress, shortened to those that explain its end. */
  private async story(runId: string): Promise<string> {
    const { entries } = await this.ports.stream.read(runId, 0, 1_000);
    const told = entries.filter(({ kind }) => kind !== 'chunk' && kind !== 'progress');
    return told.map((entry) => `  ${JSON.stringify(entry).slice(0, 400)}`).join('\n');
  }

  close(): Promise<void> {
    return this.unsubscribe?.() ?? Promise.resolve();
  }

  private ended(runId: string): Promise<RunCompletedEntry> {
    return new Promise<RunCompletedEntry>((resolve, reject) => {
      let cursor = 0;
      let reading = false;
      let again = false;
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        this.looks.delete(runId);
        act();
      };
      const timer = setTimeout(() => settle(() => reject(new Error(`${runId} did not end within ${patienceMs / 1000} s.`))), patienceMs);
      const look = async (): Promise<void> => {
        again = true;
        if (reading) return;
        reading = true;
        while (again) {
          again = false;
          const { entries } = await this.ports.stream.read(runId, cursor, 500);
          cursor = entries.at(-1)?.id ?? cursor;
          const end = entries.find((entry) => entry.kind === 'run.completed');
          if (end) settle(() => resolve(end as RunCompletedEntry));
        }
        reading = false;
      };
      this.looks.set(runId, () => void look().catch((error: unknown) => settle(() => reject(error as Error))));
    });
  }
}

/** The question of the benchmarks as the gateway would ask it. */
export function requestOf(runId: string, template = committeeTemplate): PlanRequested {
  const at = Date.now();
  return makeEvent(
    PlanRequested,
    { id: runId, runId, source: 'gateway', time: at },
    {
      goal: question,
      conversation: [],
      system: null,
      template,
      limits: template.limits,
      caller: { tenant: 'default', actor: 'bench' },
      answer: {},
      origin: 'runs',
      requestedAt: at,
    },
  );
}

let made = 0;
/** A unique id of the same length as the gateway's. */
export const nextRunId = (): string =>
  `run_${process.pid.toString(36).padStart(8, '0')}${Date.now().toString(36).padStart(9, '0')}${(made += 1).toString(36).padStart(7, '0')}`;
