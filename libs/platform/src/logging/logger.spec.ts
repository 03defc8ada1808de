import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { fileLines, jsonLines, openLogger, terminalLines, type LogFields } from './logger.js';

const lineOf = (message: string, fields?: LogFields): Record<string, unknown> => {
  const lines: string[] = [];
  openLogger({ level: 'debug', sinks: [jsonLines({ write: (text) => lines.push(text) })] }).info(message, fields);
  return JSON.parse(lines.join('')) as Record<string, unknown>;
};

describe('a log line', () => {
  it('is JSON with run and trace', () => {
    expect(lineOf('Planned.', { run: 'run_1', trace: 'abc' })).toMatchObject({
      level: 'info',
      message: 'Planned.',
      run: 'run_1',
      trace: 'abc',
    });
  });

  it.each([
    ['a key by its name', { apiKey: 'sk-abcdefgh' }],
    ['a token below another field', { provider: { auth_token: 'sk-abcdefgh' } }],
    ['a key in a text', { note: 'called with sk-abcdefghijkl and failed' }],
    ['a bearer header in a text', { note: 'Authorization: Bearer sk-abcdefgh123' }],
    ['credentials of an address', { address: 'redis://user:sk-abcdefgh@127.0.0.1:6379' }],
    ['a prompt', { prompt: 'sk-abcdefgh' }],
    ['messages', { request: { messages: [{ role: 'user', content: 'sk-abcdefgh' }] } }],
    [
      'a key inside an error',
      { error: new Failure('PROVIDER_REFUSED', 'key sk-abcdefgh99 was refused', { cause: new Error('api_key=sk-abcdefgh') }) },
    ],
  ])('never contains %s', (_name, fields) => {
    expect(JSON.stringify(lineOf('Something.', fields))).not.toContain('abcdefgh');
  });

  it('keeps numbers in fields that are named like content', () => {
    expect(lineOf('Counted.', { tokens: { prompt: 12 } })).toMatchObject({ tokens: '[redacted]' });
    expect(lineOf('Counted.', { usage: { prompt: 12, completion: 3 } })).toMatchObject({ usage: { prompt: 12, completion: 3 } });
  });

  it('shows code, reason and cause of a failure', () => {
    const { error } = lineOf('Failed.', { error: new Failure('LOG_UNAVAILABLE', 'no broker', { cause: new Error('refused') }) });
    expect(error).toMatchObject({ code: 'LOG_UNAVAILABLE', cause: { reason: 'refused' } });
  });
});

describe('sinks', () => {
  it('leave out lines below the level', () => {
    const lines: string[] = [];
    const logger = openLogger({ level: 'warn', sinks: [jsonLines({ write: (text) => lines.push(text) })], fields: { service: 'planner' } });
    logger.info('quiet');
    logger.child({ run: 'run_1' }).warn('loud');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ message: 'loud', service: 'planner', run: 'run_1' }),
    ]);
  });

  it('show a person only warnings and errors, in one line each', () => {
    const lines: string[] = [];
    const logger = openLogger({ level: 'debug', sinks: [terminalLines({ write: (text) => lines.push(text) })] });
    logger.info('quiet');
    logger.warn('The store is slow.');
    logger.error('Stopped.', { error: new Error('disk full') });
    expect(lines).toEqual(['Warning: The store is slow.\n', 'Error: Stopped. (disk full)\n']);
  });

  it('write a file before they return', () => {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-log-'));
    const file = join(folder, 'deep', 'conclave.log');
    const sink = fileLines(file);
    openLogger({ level: 'debug', sinks: [sink] }).debug('kept');
    expect(readFileSync(file, 'utf8')).toContain('"message":"kept"');
    sink.close();
    rmSync(folder, { recursive: true });
  });

  it('leave out a line for which there is no space, without a failure, and count it in the next line that is written', () => {
    const folder = mkdtempSync(join(tmpdir(), 'log-'));
    const file = join(folder, 'conclave.log');
    const sink = fileLines(file);
    sink.close();
    rmSync(file);
    // Every write to it ends with ENOSPC; if a system has no such device, a folder is used, to which nothing can be appended either.
    if (existsSync('/dev/full')) symlinkSync('/dev/full', file);
    else mkdirSync(file);
    const logger = openLogger({ level: 'info', sinks: [sink] });
    expect(() => {
      logger.error('One.');
      logger.error('Two.');
    }).not.toThrow();
    rmSync(file, { recursive: true });
    logger.info('Three.');
    logger.info('Four.');
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ message, missingLines }) => [message, missingLines])).toEqual([
      ['Three.', 2],
      ['Four.', undefined],
    ]);
    rmSync(folder, { recursive: true });
  });

  it('set a large file aside when they are opened', () => {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-log-'));
    const file = join(folder, 'conclave.log');
    writeFileSync(file, Buffer.alloc(11 * 1024 * 1024, 32));
    fileLines(file).close();
    expect(existsSync(`${file}.1`)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('');
    rmSync(folder, { recursive: true });
  });

  it('say what to do about a data folder that is a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-log-'));
    const home = join(folder, 'file');
    writeFileSync(home, '');
    expect(() => fileLines(join(home, 'conclave.log'))).toThrow(
      expect.objectContaining({ code: 'CONFIGURATION_INVALID', message: expect.stringContaining('Name a folder in CONCLAVE_HOME') }),
    );
    rmSync(folder, { recursive: true });
  });
});
