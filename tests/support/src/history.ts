import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** `invoke` opens an operation; `ok`, `fail` and `unknown` close it (`unknown`: it may or may not have happened); `info` stands alone. */
export type HistoryPhase = 'invoke' | 'ok' | 'fail' | 'unknown' | 'info';

/** One line of a history file. Services, clients and fake models write the same shape into one file. */
export interface HistoryEntry {
  /** milliseconds since 1970 by the clock of the writing process */
  readonly at: number;
  readonly process: string;
  readonly actor: string;
  readonly op: string;
  /** A `HistoryPhase` of a client or a fake model, or a word of a service such as `begin` and `crash`. */
  readonly phase: string;
  /** Id of the operation, run, event or call it is about. */
  readonly id: string;
  readonly data: unknown;
}

/** Appends before it returns, so that the line is written even if the process dies next. Several processes may share the file. */
export class HistoryWriter {
  constructor(
    readonly file: string,
    private readonly process: string,
    private readonly actor: string,
  ) {}

  write(op: string, phase: HistoryPhase, id: string, data: unknown = null): void {
    const entry: HistoryEntry = { at: Date.now(), process: this.process, actor: this.actor, op, phase, id, data };
    appendFileSync(this.file, `${JSON.stringify(entry)}\n`);
  }

  /** Writes `invoke`, then `ok` or `fail` with what the operation returned or threw. */
  async operation<T>(op: string, id: string, data: unknown, act: () => Promise<T>): Promise<T> {
    this.write(op, 'invoke', id, data);
    try {
      const value = await act();
      this.write(op, 'ok', id);
      return value;
    } catch (error) {
      this.write(op, 'fail', id, { error: String(error) });
      throw error;
    }
  }
}

/**
 * Lines in the order of the file; a missing file is an empty history. A last line without a line feed was cut off by the death of
 * its writer and is left out; any other invalid line throws with its number.
 */
export function readHistory(file: string): readonly HistoryEntry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  lines.pop();
  return lines.map((line, index) => {
    const entry = parse(line);
    if (!entry) throw new Error(`Line ${index + 1} of ${file} is not a history entry: ${line.slice(0, 200)}`);
    return entry;
  });
}

function parse(line: string): HistoryEntry | null {
  try {
    const entry = JSON.parse(line) as HistoryEntry;
    return typeof entry.at === 'number' && typeof entry.op === 'string' && typeof entry.phase === 'string' ? entry : null;
  } catch {
    return null;
  }
}

/** Operations that were invoked and never closed: their writer died, so it is unknown whether they happened. */
export function openOperations(history: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const open = new Map<string, HistoryEntry>();
  for (const entry of history) {
    const key = `${entry.actor} ${entry.op} ${entry.id}`;
    if (entry.phase === 'invoke') open.set(key, entry);
    else if (entry.phase !== 'info') open.delete(key);
  }
  return [...open.values()];
}
