import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { MemoryNote } from './memory-probe.js';

const noteWithinMs = 20_000;
const probe = new URL('./memory-probe.js', import.meta.url).href;

/** Node flags that load the probe into a process. */
export const probeFlags: readonly string[] = ['--expose-gc', '--import', probe];

/** A process under test that reports its memory use on request. */
export class ProbedProcess {
  private asked = 0;

  constructor(
    readonly name: string,
    private readonly pid: number,
    /** The path in MEMORY_FILE of the process. */
    private readonly file: string,
  ) {}

  /** Throws when the process is gone or does not answer in time. */
  async note(): Promise<MemoryNote> {
    this.asked += 1;
    process.kill(this.pid, 'SIGUSR2');
    const end = performance.now() + noteWithinMs;
    for (;;) {
      const lines = existsSync(this.file) ? readFileSync(this.file, 'utf8').split('\n').slice(0, -1) : [];
      if (lines.length >= this.asked) return JSON.parse(lines[this.asked - 1]!) as MemoryNote;
      if (performance.now() > end) throw new Error(`${this.name} did not report its memory within ${noteWithinMs / 1_000} s.`);
      await delay(20);
    }
  }
}
