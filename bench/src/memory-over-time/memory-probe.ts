import { appendFileSync } from 'node:fs';

/**
 * Loaded into the processes under test by `--import`, together with `--expose-gc`: on SIGUSR2 it reads the memory use of the
 * process, collects garbage, and appends a line to the file in MEMORY_FILE.
 */
export interface MemoryNote {
  /** Bytes before the collection, including garbage. */
  readonly rss: number;
  /** Bytes of live objects after the collection. */
  readonly heap: number;
  /** Bytes outside the heap that its objects hold, such as buffers. */
  readonly external: number;
}

const finalizersMs = 200;
const file = process.env['MEMORY_FILE'];
const collect = globalThis.gc;
if (file && collect) {
  process.on('SIGUSR2', () => {
    const rss = process.memoryUsage.rss();
    collect();
    // Finalizers, such as those of aborted requests, run between two collections and release memory.
    setTimeout(() => {
      collect();
      const { heapUsed: heap, external } = process.memoryUsage();
      appendFileSync(file, `${JSON.stringify({ rss, heap, external } satisfies MemoryNote)}\n`);
    }, finalizersMs);
  });
}
