import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

interface Out {
  write(text: string): unknown;
}

interface BinaryOut {
  write(text: string | Uint8Array): unknown;
}

/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

export const plain: Paint = (_style, text) => text;
const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

/**
 * Colours for a terminal. FORCE_COLOR other than 0 or false also colours output to a file; a non-empty NO_COLOR switches colours off.
 * If both are set FORCE_COLOR wins, as in Node.
 */
export function paintFor(isTerminal: boolean, { NO_COLOR, FORCE_COLOR, TERM }: Readonly<Record<string, string | undefined>>): Paint {
  if (FORCE_COLOR !== undefined) return FORCE_COLOR === '0' || FORCE_COLOR === 'false' ? plain : coloured;
  return isTerminal && !NO_COLOR && TERM !== 'dumb' ? coloured : plain;
}

/** Control characters except line ends and tabs, and characters that reverse the order of others. */
const controls = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text of others as a terminal may show it. Otherwise a question, a document or a model could clear the screen, rewrite what stands there
 * or fill the clipboard.
 */
export const printable = (text: string): string => text.replace(controls, '');

/** An output of which a terminal gets only printable text; a file or another program gets every character. */
export const readable = <T extends BinaryOut & { readonly isTTY?: boolean }>(stream: T): BinaryOut =>
  stream.isTTY ? { write: (text) => stream.write(printable(typeof text === 'string' ? text : Buffer.from(text).toString())) } : stream;

/** Styles of progress lines by their first sign. */
const styles: readonly (readonly [RegExp, Style])[] = [
  [/^\s*(?:❌|⛔)|^🏁 (?:Failed|Stuck)/u, 'red'],
  [/^\s*(?:⚠️|🔄)|^🏁 (?:Stopped|No more|Cancelled)/u, 'yellow'],
  [/^🏁|^\s*✅/u, 'green'],
  [/^(?:🎯|📋|📚)/u, 'cyan'],
  [/^(?: {3}|\()/u, 'dim'],
];

/** Progress text coloured line by line; line ends stay outside the colour codes. */
export const painted = (text: string, paint: Paint): string =>
  text
    .split('\n')
    .map((line) => {
      const style = styles.find(([pattern]) => pattern.test(line))?.[1];
      return style === undefined ? line : paint(style, line);
    })
    .join('\n');

/** Milliseconds in readable form: 0.4 s, 12 s, 2 min 05 s. */
export function elapsedText(ms: number): string {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** The waiting line, `ms` after the start. */
const waitingText = (ms: number): string => `${frames[Math.floor(ms / 100) % frames.length]} ${Math.floor(ms / 1_000)} s`;

/** Moves to the first column and clears the line. */
export const cleared = '\r\u001b[2K';

/**
 * The last line of a terminal, which shows the elapsed time. Output through `beneath` removes it first; it stays hidden after text
 * that does not end its line.
 */
export class WaitingLine {
  private shown = false;
  private free = true;

  constructor(
    private readonly terminal: Out,
    private readonly elapsedMs: () => number,
    private readonly paint: Paint,
  ) {}

  /** An output on the same terminal; writing to it hides the line first. */
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

  /** Redraws the line. */
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
