import { promptMarks } from '@conclave/contracts';

/** Headings that stand alone on a line of a prompt, above what it quotes. */
const headings: readonly string[] = [
  promptMarks.evidence,
  promptMarks.facts,
  promptMarks.expertAnswers,
  promptMarks.passages,
  promptMarks.results,
  promptMarks.data.open,
];
/** Characters of a line that must be in the prompt if the line has not ended yet. */
const enough = 40;
/** Shorter lines, such as "1.", are in every prompt. */
const least = 8;

const undecorated = (line: string): string => line.trim().replace(/^[#*\s]+|[*\s]+$/g, '');
/** Longest line that is held back for a heading, and most blank lines behind one, in characters: what never ends must pass. */
const longestHeld = 80;
const mayBecomeHeading = (start: string): boolean => {
  if (start.length > longestHeld) return false;
  const text = undecorated(start);
  return headings.some((heading) => heading.startsWith(text));
};
const isHeading = (line: string): boolean => headings.includes(undecorated(line));

/**
 * Leaves out of a reply what it copies from the evidence of its own prompt: small models go on with the prompt when their answer is over. A
 * copy begins with a heading of the prompt alone on a line, followed by a line of the prompt, and lasts while its lines are in the prompt.
 * Any other text passes as it came; what may become a heading is held back until it is known.
 */
export class WithoutCopies {
  /** Characters that were left out. */
  removed = 0;
  private state: 'passing' | 'starting' | 'headed' | 'copying' = 'starting';
  private held = '';
  private line = '';
  private hasBegun = false;
  /** Set if the reply begins with a heading: one that is nothing but a copy stays, because it is better than none. */
  private staysWhole = false;
  private known: string | null = null;

  /** `prompt`: its text, read only if a heading comes. */
  constructor(private readonly prompt: () => string) {}

  /** Returns the text that passes now. */
  push(text: string): string {
    let passed = '';
    for (let at = 0; at < text.length;) {
      const end = text.indexOf('\n', at);
      const part = text.slice(at, end < 0 ? text.length : end + 1);
      passed += this.take(part, end >= 0);
      at += part.length;
    }
    return passed;
  }

  /** Returns what is still held back at the end and is no copy. */
  end(): string {
    if (this.state === 'copying' && this.isCopied(this.line)) return this.drop();
    return this.release(true);
  }

  private take(part: string, isWhole: boolean): string {
    if (this.staysWhole) return part;
    if (this.state === 'passing') {
      if (isWhole) this.state = 'starting';
      return part;
    }
    this.line += part;
    if (this.state === 'starting') return this.atStart(isWhole);
    return this.state === 'headed' ? this.afterHeading(isWhole) : this.inCopy(isWhole);
  }

  private atStart(isWhole: boolean): string {
    this.staysWhole ||= isWhole && !this.hasBegun && isHeading(this.line);
    if (isWhole && !this.staysWhole && isHeading(this.line)) {
      this.held = this.line;
      this.line = '';
      this.state = 'headed';
      return '';
    }
    return !isWhole && mayBecomeHeading(this.line) ? '' : this.release(isWhole);
  }

  private afterHeading(isWhole: boolean): string {
    const { line } = this;
    if (this.held.length + line.length - line.trim().length > longestHeld) return this.release(isWhole);
    if (!isWhole && line.trim().length < enough) return '';
    if (line.trim() === '' || isHeading(line)) {
      this.held += line;
      this.line = '';
      return '';
    }
    if (!this.isCopied(line)) return this.release(isWhole);
    this.state = 'copying';
    this.removed += this.held.length;
    this.held = '';
    return isWhole ? this.drop() : '';
  }

  private inCopy(isWhole: boolean): string {
    if (!isWhole) return '';
    return isHeading(this.line) || this.isCopied(this.line) ? this.drop() : this.release(true);
  }

  private drop(): string {
    this.removed += this.line.length;
    this.line = '';
    return '';
  }

  private release(isWhole: boolean): string {
    const all = this.held + this.line;
    this.held = this.line = '';
    this.state = isWhole ? 'starting' : 'passing';
    this.hasBegun ||= all.trim() !== '';
    return all;
  }

  private isCopied(line: string): boolean {
    const text = line.trim();
    return text === '' || text === promptMarks.data.close || (text.length >= least && (this.known ??= this.prompt()).includes(text));
  }
}

/** The same for a whole reply. */
export function withoutCopies(reply: string, prompt: () => string): string {
  const copies = new WithoutCopies(prompt);
  return copies.push(reply) + copies.end();
}
