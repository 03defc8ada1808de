import { appendFileSync, closeSync, existsSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '@conclave/ports';
import { Failure, type LogLevel } from '@conclave/contracts';
import { redact, redactText } from './redact.js';

/** Small values beside a message. `run` and `trace` are the run id and the trace id; `error` may be any thrown value. */
export interface LogFields {
  readonly run?: string;
  readonly trace?: string;
  readonly error?: unknown;
  readonly [name: string]: unknown;
}

/** ERROR needs a person, WARN recovers by itself, INFO reports the life of runs and of the process, DEBUG reports every event. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same logger with these fields on every line. */
  child(fields: LogFields): Logger;
}

type Severity = 'debug' | 'info' | 'warn' | 'error';
export interface LogLine extends LogFields {
  readonly time: string;
  readonly level: Severity;
  readonly message: string;
}
export interface LogSink {
  write(line: LogLine): void;
  close(): void;
}

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** A logger that writes redacted lines of at least `level` to every sink. */
export function openLogger(options: { readonly level: LogLevel; readonly sinks: readonly LogSink[]; readonly fields?: LogFields }): Logger {
  const make = (fixed: LogFields): Logger => {
    const at =
      (level: Severity) =>
      (message: string, fields: LogFields = {}): void => {
        if (rank[level] < rank[options.level]) return;
        const values = redact({ ...fixed, ...fields }) as LogFields;
        const line: LogLine = { time: new Date().toISOString(), level, message: redactText(message), ...values };
        for (const sink of options.sinks) sink.write(line);
      };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: (fields) => make({ ...fixed, ...fields }) };
  };
  return make(options.fields ?? {});
}

export const silentLogger: Logger = openLogger({ level: 'silent', sinks: [] });

/** One JSON object per line. */
export const jsonLines = (out: { write(text: string): unknown }): LogSink => ({
  write: (line) => void out.write(`${JSON.stringify(line)}\n`),
  close: () => {},
});

/** A larger log file is renamed to `<name>.1` at the next start. */
const largestLogBytes = 10 * 1024 * 1024;

/**
 * JSON lines in a file; written before the call returns, so that the last lines of a dying process are kept. A line that cannot be written
 * (full disk) is dropped: logging must not fail the work. The next line written reports how many are missing. Throws Failure
 * CONFIGURATION_INVALID if the file cannot be opened.
 */
export function fileLines(path: string): LogSink {
  let file: number | undefined;
  try {
    makeFolder(dirname(path));
    if (existsSync(path) && statSync(path).size > largestLogBytes) renameSync(path, `${path}.1`);
    file = openSync(path, 'a', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const remedy = 'Name a folder in CONCLAVE_HOME that this user may create and write.';
    throw new Failure(
      'CONFIGURATION_INVALID',
      `CONCLAVE_HOME: ${path.length > 200 ? `${path.slice(0, 200)}...` : path} cannot be written (${code}). ${remedy}`,
      { cause: error },
    );
  }
  let missing = 0;
  return {
    write: (line) => {
      const text = `${JSON.stringify(missing > 0 ? { ...line, missingLines: missing } : line)}\n`;
      try {
        if (file === undefined) appendFileSync(path, text);
        else writeSync(file, text);
        missing = 0;
      } catch {
        missing += 1;
      }
    },
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** For a person at a terminal: warnings and errors only, one readable line each. */
export const terminalLines = (out: { write(text: string): unknown }): LogSink => ({
  write: ({ level, message, error }) => {
    if (rank[level] < rank.warn) return;
    const reason = (error as { reason?: string } | undefined)?.reason;
    out.write(`${level === 'error' ? 'Error' : 'Warning'}: ${message}${reason && !message.includes(reason) ? ` (${reason})` : ''}\n`);
  },
  close: () => {},
});
