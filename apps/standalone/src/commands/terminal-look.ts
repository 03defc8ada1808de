import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Paints text, or gives it back as it is. */
export type Paint = (style: Style, text: string) => string;

export const plain: Paint = (_style, text) => text;
const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

/**
 * Colours where somebody looks on. FORCE_COLOR other than 0 or false colours also what goes to a file, and a NO_COLOR that is not empty
 * switches colours off; where both are set FORCE_COLOR wins, as in Node.
 */
export function paintFor(isTerminal: boolean, { NO_COLOR, FORCE_COLOR, TERM }: Readonly<Record<string, string | undefined>>): Paint {
  if (FORCE_COLOR !== undefined) return FORCE_COLOR === '0' || FORCE_COLOR === 'false' ? plain : coloured;
  return isTerminal && !NO_COLOR && TERM !== 'dumb' ? coloured : plain;
}

/** Styles of progress lines by the sign they begin with. */
const styles: readonly (readonly [RegExp, Style])[] = [
  [/^\s*(?:❌|⛔)|^🏁 (?:Failed|Stuck)/u, 'red'],
  [/^\s*(?:⚠️|🔄)|^🏁 (?:Stopped|No more|Cancelled)/u, 'yellow'],
  [/^🏁|^\s*✅/u, 'green'],
  [/^(?:🎯|📋|📚)/u, 'cyan'],
  [/^(?: {3}|\()/u, 'dim'],
];

/** A text of progress, coloured line by line. Line ends stay outside of the colours. */
export const painted = (text: string, paint: Paint): string =>
  text
    .split('\n')
    .map((line) => {
      const style = styles.find(([pattern]) => pattern.test(line))?.[1];
      return style === undefined ? line : paint(style, line);
    })
    .join('\n');

/** Milliseconds as people read them: 0.4 s, 12 s, 2 min 05 s. */
export function elapsedText(ms: number): string {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** The line that shows that something goes on, `ms` after the beginning. */
const waitingText = (ms: number): string => `${frames[Math.floor(ms / 100) % frames.length]} ${Math.floor(ms / 1_000)} s`;

/** To the first column, and nothing right of it. */
export const cleared = '\r\u001b[2K';

interface Out {
  write(text: string): unknown;
}

/**
 * A line at the end of a terminal that shows how long it takes, as long as nothing else is written: whatever goes through `beneath` takes it
 * away first. It stays away behind text that does not end its line.
 */
export class WaitingLine {
  private shown = false;
  private free = true;

  constructor(
    private readonly terminal: Out,
    private readonly elapsedMs: () => number,
    private readonly paint: Paint,
  ) {}

  /** An output on the same terminal, which the line makes room for. */
  beneath(out: Out): Out {
    return {
      write: (text) => {
        if (text === '') return;
        this.clear();
        this.free = text.endsWith('\n');
        return out.write(text);
      },
    };
  }

  /** Draws the line anew. */
  tick(): void {
    if (!this.free) return;
    this.terminal.write(`${this.shown ? cleared : ''}${this.paint('dim', waitingText(this.elapsedMs()))}`);
    this.shown = true;
  }

  clear(): void {
    if (this.shown) this.terminal.write(cleared);
    this.shown = false;
  }
}
