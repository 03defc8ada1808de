import { TraceReceiver } from '@conclave/test-support';
import type { Benchmark } from '../benchmark.js';
import { callsPerRun } from '../committee/replies.js';
import { interleave } from '../measuring/interleave.js';
import type { Report } from '../measuring/report.js';
import { ratios, spread } from '../measuring/statistics.js';
import type { RoundOrder, RoundResult } from '../overhead-per-run/measured-round.js';
import { Closing } from '../processes/closing.js';
import { Scratch } from '../processes/scratch.js';
import { Worker } from '../processes/worker.js';

const off = 'traces off';
const on = 'traces on';
const unreachable = 'traces on, no collector';
const script = new URL('./conclave-worker.js', import.meta.url);

/** An address on which nothing listens. */
const nowhere = 'http://127.0.0.1:9';

const cpuPerRun = ({ runMs, cpuMs }: RoundResult): number => cpuMs / runMs.length;
const perRun = ({ runMs, wallMs }: RoundResult): number => wallMs / runMs.length;

export const costOfTraces: Benchmark = {
  id: 'B14',
  title: 'what traces add to an agentic run, embedded',
  obstacle: async () => null,
  async run({ quick, progress, rounds = quick ? 1 : 9 }): Promise<Report> {
    const order: RoundOrder = quick ? { runs: 4, concurrency: 4 } : { runs: 64, concurrency: 16 };
    const closing = new Closing();
    const scratch = new Scratch();
    closing.add(() => scratch.remove());
    try {
      const receiver = await TraceReceiver.start();
      closing.add(() => receiver.close());
      const sides = [];
      for (const [name, collector] of [
        [off, ''],
        [on, receiver.url],
        [unreachable, nowhere],
      ] as const) {
        // Instant models replace its models; naming a provider prevents discovery of servers.
        const home = scratch.home(name.replaceAll(/\W/g, '-'), {
          providers: { bench: { base_url: 'http://127.0.0.1:9/v1', paid: false } },
        });
        const worker = await Worker.start({ name, script, args: [home, '', collector] });
        closing.add(() => worker.close());
        sides.push({ name, worker });
      }
      const subjects = sides.map(({ name, worker }) => ({ name, measure: () => worker.call<RoundResult>('round', order) }));
      const results = await interleave(subjects, rounds, progress);
      const [without, traced, lost] = [off, on, unreachable].map((name) => results.get(name)!) as [
        RoundResult[],
        RoundResult[],
        RoundResult[],
      ];
      const spans = new Set(receiver.spans.map(({ spanId }) => spanId)).size;
      const traces = new Set(receiver.spans.map(({ traceId }) => traceId)).size;
      const added = (side: readonly RoundResult[]): readonly number[] =>
        side.map((round, index) => cpuPerRun(round) - cpuPerRun(without[index]!));
      return {
        definition: [
          `An agentic run: plan, 4 experts, gap check, re-plan, 4 experts, gap check, answer: ${callsPerRun} model calls that are answered at once.`,
          'Each side is a separate process; only one of them works at a time. The collector is another process, which is not counted.',
          `${order.concurrency} runs at a time, ${order.runs} a round. ${traces > 0 ? Math.round(spans / traces) : 0} spans a run arrived.`,
        ],
        tables: [
          {
            title: 'Per run:',
            columns: ['side', 'ms of time', 'ms of processor'],
            rows: [...results].map(([name, all]) => [name, spread(all.map(perRun)), spread(all.map(cpuPerRun))]),
          },
        ],
        findings: [
          { name: on, side: traced },
          { name: unreachable, side: lost },
        ].map(({ name, side }) => ({
          what: `processor time added per run, ${name}`,
          reference: off,
          value: spread(added(side)),
          unit: 'ms',
          ratio: spread(ratios(side.map(cpuPerRun), without.map(cpuPerRun))),
          target: null,
        })),
        notes: [],
      };
    } finally {
      await closing.run();
    }
  },
};
