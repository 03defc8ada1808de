import { Worker } from 'node:worker_threads';
import type { ExtensionCall } from '@conclave/strategies';

/** Milliseconds between two signs of life of the main thread. */
const longestBeatMs = 1_000;
/** Cells shared by both threads: the number of signs of life, and the length in bytes of the text that names the running call (0: none). */
const [beats, length] = [0, 1];
const textBytes = 4_096;

/**
 * Runs in its own thread. Counts its own ticks without a sign of life and not time, because a process that was frozen as a whole has done
 * nothing wrong. Messages of the main thread would not arrive, and a thread can end its process only by a signal: SIGALRM, which nothing
 * else sends; SIGKILL if that is blocked.
 */
const watcher = `
const { workerData: { cells, text, beatMs, limitMs } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
let seen = -1;
let silentMs = 0;
setInterval(() => {
  const beat = Atomics.load(cells, ${beats});
  const bytes = Atomics.load(cells, ${length});
  silentMs = beat === seen && bytes > 0 ? silentMs + beatMs : 0;
  seen = beat;
  if (silentMs < limitMs) return;
  silentMs = 0;
  const underWay = Buffer.from(text.slice(0, bytes)).toString();
  const message = 'The process stood still for ' + Math.round(limitMs / 100) / 10 + ' s while an extension was at work, and is ended: ' + underWay +
    '. Bound its loops, also those after an \`await\`; what was being done is done again after a restart, and given up after three deaths.';
  try {
    writeSync(2, JSON.stringify({ time: new Date().toISOString(), level: 'error', message, pid: process.pid }) + '\\n');
  } finally {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1000);
    process.kill(process.pid, 'SIGALRM');
  }
}, beatMs);
`;

/** Awaits work of an extension. */
export type Awaiting = <T>(what: ExtensionCall, work: () => Promise<T>) => Promise<T>;

/**
 * Awaits work of extensions, and ends the process, after a line on standard error that names the work, if the main thread shows no sign of
 * life for `limitMs` meanwhile: then it loops in what nobody can interrupt, such as the rest of an `async` function. Does not keep the
 * process alive.
 */
export function endingStandstill(limitMs: number): Awaiting {
  const beatMs = Math.min(longestBeatMs, Math.ceil(limitMs / 5));
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const text = new Uint8Array(new SharedArrayBuffer(textBytes));
  new Worker(watcher, { eval: true, workerData: { cells, text, beatMs, limitMs } }).unref();
  const underWay = new Set<string>();
  let beating: NodeJS.Timeout | undefined;
  const show = (): void => {
    // Encoded apart: an encoder does not write into shared memory.
    const bytes = new TextEncoder()
      .encode([...new Set([...underWay].map((line) => line.split('\n')[0]))].join('; '))
      .subarray(0, textBytes);
    Atomics.store(cells, length, 0);
    text.set(bytes);
    Atomics.add(cells, beats, 1);
    Atomics.store(cells, length, bytes.length);
  };
  let n = 0;
  return async (what, work) => {
    const line = `${what.name} (${what.module ?? 'no module'})\n${(n += 1)}`;
    underWay.add(line);
    show();
    beating ??= setInterval(() => void Atomics.add(cells, beats, 1), beatMs).unref();
    try {
      return await work();
    } finally {
      underWay.delete(line);
      show();
      if (underWay.size === 0) {
        clearInterval(beating);
        beating = undefined;
      }
    }
  };
}
