import type { Logger } from '@conclave/platform';
import { oneLine } from '@conclave/ports';

/** Maximum number of characters kept of a line. */
const longestLine = 300;
const linesPerMinute = 30;

/** Standard error of a program: logs the first lines of every minute, and keeps the last line to explain why it ended. */
export class ProgramLog {
  last = '';
  private pending = '';
  private minute = { from: 0, lines: 0 };
  private readonly decoder = new TextDecoder();

  constructor(
    private readonly server: string,
    private readonly logger: Logger,
  ) {}

  write(chunk: Uint8Array): void {
    const [first = '', ...more] = this.decoder.decode(chunk, { stream: true }).split('\n');
    // An overlong line is cut.
    this.pending = (this.pending + first).slice(0, 4 * longestLine);
    for (const next of more) {
      this.line(this.pending);
      this.pending = next.slice(0, 4 * longestLine);
    }
  }

  flush(): void {
    this.line(this.pending);
    this.pending = '';
  }

  private line(text: string): void {
    const line = oneLine(text, longestLine);
    if (line === '') return;
    this.last = line;
    const now = performance.now();
    if (now - this.minute.from > 60_000) this.minute = { from: now, lines: 0 };
    this.minute.lines += 1;
    if (this.minute.lines <= linesPerMinute) this.logger.info(`The tool server ${this.server} says: ${line}`);
    else if (this.minute.lines === linesPerMinute + 1)
      this.logger.warn(`The tool server ${this.server} writes more than ${linesPerMinute} lines a minute; the rest is left out.`);
  }
}
