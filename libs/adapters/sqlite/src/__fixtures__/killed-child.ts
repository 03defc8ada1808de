import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Runs a script of this folder in its own process. */
export class Child {
  private readonly process: ChildProcess;
  private output = '';
  private errors = '';

  constructor(script: string, ...parameters: readonly string[]) {
    const flags = ['--no-warnings', '--import', path('../../../../../tests/support/typescript-loader.mjs')];
    this.process = spawn(process.execPath, [...flags, path(`./${script}`), ...parameters], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process.stdout!.on('data', (data: Buffer) => (this.output += data.toString()));
    this.process.stderr!.on('data', (data: Buffer) => (this.errors += data.toString()));
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** Complete lines it has printed so far. */
  get lines(): readonly string[] {
    return this.output.split('\n').slice(0, -1);
  }

  /** Resolves when it has printed `count` lines. Throws when it ends earlier, or after 20 s. */
  async said(count: number): Promise<void> {
    for (const end = Date.now() + 20_000; this.lines.length < count;) {
      if (this.process.exitCode !== null) throw new Error(`The child ended: ${this.errors}`);
      if (Date.now() > end) throw new Error(`The child said ${this.lines.length} lines of ${count}: ${this.errors}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Kills it without warning and waits until all its output has arrived. */
  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const closed = once(this.process, 'close');
    this.process.kill('SIGKILL');
    await closed;
  }
}
