import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { interleave, type Subject } from '../measuring/interleave.js';
import type { Finding, Report } from '../measuring/report.js';
import { median, ratios, spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import { subTopics, type Schedule } from '../model-server/schedule.js';
import { streamChat } from '../model-server/streaming-client.js';
import { Closing } from '../processes/closing.js';
import { directModel, startEmbedded } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';

const schedule: Schedule = { firstTokenMs: 200, gapMs: 0, tokens: 1, hang: null };
/** The calls of a run: the split, one reading of each sub-topic, the answer. */
const callsOfRun = subTopics.length + 2;
/** Calls that cannot overlap: the split, the slowest sub-topic, the answer. */
const callsInTurn = 3;
const [chain, run] = [`${callsInTurn} calls in turn, no gateway`, `a question with ${subTopics.length} sub-topics`];
const template = 'topics';

/** Milliseconds of one question, from its request to the end of its answer. */
async function timed(url: string, model: string, prompt: string): Promise<number> {
  const from = performance.now();
  await streamChat({ url, model, prompt });
  return performance.now() - from;
}

/** One document for each sub-topic. */
function writeDocuments(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const topic of subTopics)
    writeFileSync(join(folder, `${topic}.md`), `# ${topic}\n\nThe pigment ${topic} is ground from stone and keeps its colour in light.\n`);
  return folder;
}

export const subTopicsAtOnce: Benchmark = {
  id: 'B12',
  title: 'sub-topics of one question, researched at the same time, embedded',
  obstacle: async () => null,
  async run({ quick, progress, profile, rounds = quick ? 1 : 9 }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      const model = await FakeModel.start();
      closing.add(() => model.close());
      await model.schedule(schedule);
      const product = await startEmbedded({
        ...{ modelUrl: model.url, scratch, closing, profile },
        templates: {
          [template]: {
            ...{
              strategy: 'decompose',
              planner: { model: directModel },
              judge: { model: directModel },
              experts: { general: { t1: [directModel] } },
            },
            ...{ capabilities: ['research'], caches: { answer: false, semantic: false, plan: false, search: false } },
          },
        },
        settings: { search: { corpus: writeDocuments(join(scratch.folder, 'documents')) } },
      });
      const requests = quick ? 1 : 4;
      const calls: number[] = [];
      const repeated = (name: string, measure: () => Promise<number>): Subject<number> => ({
        name,
        measure: async () => {
          const times: number[] = [];
          for (let n = 0; n < requests; n += 1) times.push(await measure());
          return median(times);
        },
      });
      const results = await interleave(
        [
          repeated(chain, async () => {
            let ms = 0;
            for (let n = 0; n < callsInTurn; n += 1) {
              const one = await timed(model.url, 'scripted', 'Say something.');
              ms += one;
            }
            return ms;
          }),
          repeated(run, async () => {
            const before = await model.calls();
            const ms = await timed(product.url, template, 'How do these four pigments differ?');
            calls.push((await model.calls()) - before);
            return ms;
          }),
        ],
        rounds,
        progress,
      );
      const [ours, theirs] = [results.get(run)!, results.get(chain)!];
      const findings: readonly Finding[] = [
        { what: `${run}: wall time`, reference: chain, value: spread(ratios(ours, theirs)), unit: 'x', target: { atMost: 1.2 } },
        {
          what: `${run}: model calls`,
          reference: `one for the split, one for each sub-topic, one for the answer: ${callsOfRun}`,
          value: spread(calls.map((count) => count / callsOfRun)),
          unit: 'x',
          target: { atLeast: 1, atMost: 1 },
        },
      ];
      return {
        definition: [
          `A fake model server (own process) answers each call after ${schedule.firstTokenMs} ms. A question of the strategy decompose is split into ${subTopics.length} sub-topics, each of which`,
          'searches a folder of documents and reads what it found; then the answer is written. The gateway is the standalone app on its SQLite file.',
          `The reference is a client that makes ${callsInTurn} calls one after the other: the split, one sub-topic and the answer, which cannot overlap. ${requests} of each a round.`,
        ],
        tables: [
          {
            title: 'Milliseconds, by round:',
            columns: ['way', 'wall time'],
            rows: [...results].map(([name, times]) => [name, spread(times)]),
          },
        ],
        findings,
        notes: [],
      };
    } finally {
      await closing.run();
    }
  },
};
