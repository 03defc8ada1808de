import { setTimeout as delay } from 'node:timers/promises';
import { Refused, streamChat } from '../model-server/streaming-client.js';
import { liveTemplate } from '../processes/product.js';
import type { MemoryNote } from './memory-probe.js';
import type { ProbedProcess } from './probed-process.js';

export interface SoakOptions {
  /** Base URL of the gateway, with /v1. */
  readonly url: string;
  readonly processes: readonly ProbedProcess[];
  readonly runsPerSecond: number;
  readonly minutes: number;
  /** Milliseconds between two samples. */
  readonly everyMs: number;
  readonly progress: (text: string) => void;
}

export interface Sample extends MemoryNote {
  /** Minutes since the soak began. */
  readonly at: number;
}

export interface Soaked {
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  readonly runs: number;
  /** Runs that were due while too many were running, or that the gateway refused as overloaded. */
  readonly skipped: number;
}

/** Most concurrent runs, so that a machine too slow for the load does not build a queue. */
const atOnce = 16;
/** Runs after which code is compiled and most in-memory caches are full. */
export const warmUpRuns = 300;
const warmUpAtOnce = 8;
/** Milliseconds for one answer, even on a busy machine. */
const withinMs = 300_000;

/** Streams chats at a steady pace for `minutes` and samples the memory of every process. Throws when an answer fails. */
export async function soak({ url, processes, runsPerSecond, minutes, everyMs, progress }: SoakOptions): Promise<Soaked> {
  const ask = (n: number) => streamChat({ url, model: liveTemplate, prompt: `What is question ${n} about?`, withinMs });
  for (let n = 0; n < warmUpRuns; n += warmUpAtOnce) await Promise.all(Array.from({ length: warmUpAtOnce }, (_, k) => ask(-n - k)));
  const samples = new Map<string, Sample[]>(processes.map(({ name }) => [name, []]));
  const from = performance.now();
  const until = from + minutes * 60_000;
  const underWay = new Set<Promise<unknown>>();
  let [runs, skipped, asked] = [0, 0, 0];
  let broken: Error | null = null as Error | null;
  let nextSample = from;
  let pausedMs = 0;
  while (performance.now() < until && broken === null) {
    await delay(Math.max(0, from + pausedMs + (asked * 1_000) / runsPerSecond - performance.now()));
    asked += 1;
    if (underWay.size >= atOnce) skipped += 1;
    else {
      const run = ask(asked).then(
        () => (runs += 1),
        (error: Error) => {
          if (error instanceof Refused && (error.status === 429 || error.status === 503)) skipped += 1;
          else broken = error;
        },
      );
      underWay.add(run);
      void run.finally(() => underWay.delete(run));
    }
    if (performance.now() < nextSample) continue;
    nextSample += everyMs;
    // Running runs hold memory too, and their number varies: sample only once all have ended.
    const pausedAt = performance.now();
    await Promise.all(underWay);
    const at = (performance.now() - from) / 60_000;
    progress(`minute ${at.toFixed(1)} of ${minutes}, ${runs} runs`);
    const notes = await Promise.all(processes.map((process) => process.note()));
    for (const [index, { name }] of processes.entries()) samples.get(name)!.push({ at, ...notes[index]! });
    pausedMs += performance.now() - pausedAt;
  }
  await Promise.all(underWay);
  if (broken !== null) throw broken;
  return { samples, runs, skipped };
}
