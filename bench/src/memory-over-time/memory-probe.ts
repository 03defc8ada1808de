import { appendFileSync } from 'node:fs';

/**
 * Loaded into the processes under test by `--import`, together with `--expose-gc`: at SIGUSR2 it notes what memory the process
 * has, collects garbage, and appends a line to the file that MEMORY_FILE names.
 */
export interface MemoryNote {
  /** Bytes as they stood before the collection, with whatever garbage there was. */
  readonly rss: number;
  /** Bytes of live objects after it. */
  readonly heap: number;
  /** Bytes outside the heap that objects of it hold, such as buffers. */
  readonly external: number;
}

const finalizersMs = 200;
const file = process.env['MEMORY_FILE'];
const collect = globalThis.gc;
if (file && collect) {
  process.on('SIGUSR2', () => {
    const rss = process.memoryUsage.rss();
    collect();
    // Finalizers, such as those of aborted requests, run between two collections and free what they held.
    setTimeout(() => {
      collect();
      const { heapUsed: heap, external } = process.memoryUsage();
      appendFileSync(file, `${JSON.stringify({ rss, heap, external } satisfies MemoryNote)}\n`);
    }, finalizersMs);
  });
}
