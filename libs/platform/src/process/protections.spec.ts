import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { protectionNames, protections } from '@conclave/contracts';
import { readEnvironment } from '../configuration/environment.js';
import { openLogger, type LogLine } from '../logging/logger.js';
import { openMetrics } from '../metrics/metrics.js';
import { deliveryHooks } from '../transport/delivery-hooks.js';
import { noCrashPoints } from './crash-point.js';
import { noHistory, type HistoryLine } from './history.js';
import { announceProtections, protectionsOff } from './protections.js';

function listeners() {
  const said: LogLine[] = [];
  const written: HistoryLine[] = [];
  const logger = openLogger({ level: 'info', sinks: [{ write: (line) => void said.push(line), close: () => {} }] });
  return { said, written, logger, history: { write: (line: HistoryLine) => void written.push(line), enabled: true } };
}

describe('a switch that takes a protection away', () => {
  it('is off unless somebody sets it', () => {
    expect(protectionsOff(readEnvironment({})).size).toBe(0);
    expect(protectionsOff(readEnvironment({ HISTORY_FILE: 'h.ndjson', WITHOUT_PROTECTION: '' })).size).toBe(0);
  });

  it('takes every name of the list, and several at once', () => {
    const all = protectionNames.join(', ');
    expect([...protectionsOff(readEnvironment({ HISTORY_FILE: 'h.ndjson', WITHOUT_PROTECTION: all }))]).toEqual(protectionNames);
    expect(new Set(protectionNames).size).toBe(protections.length);
  });

  it('is refused without a history, and for a name that is not on the list', () => {
    expect(() => readEnvironment({ WITHOUT_PROTECTION: 'journal' })).toThrow(/WITHOUT_PROTECTION.*for tests alone/s);
    expect(() => readEnvironment({ HISTORY_FILE: 'h.ndjson', WITHOUT_PROTECTION: 'jornal' })).toThrow(/of offset-tracker/);
  });

  it('is announced with what is lost, in the log and in the history; nothing is said of what stands', () => {
    const to = listeners();
    announceProtections(new Set(['journal']), 'experts', to);
    expect(to.said).toMatchObject([{ level: 'warn', protection: 'journal', message: expect.stringContaining('paid again') }]);
    expect(to.written).toEqual([{ actor: 'experts', op: 'protection', phase: 'off', id: 'journal' }]);
  });
});

describe('the history of a process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-history-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const source = pathToFileURL(join(import.meta.dirname, 'history.ts')).href;
  const loader = join(import.meta.dirname, '../../../../tests/support/typescript-loader.mjs');
  const flags = ['--no-warnings', '--import', loader, '--input-type=module'];

  it.each([
    ['ends well', '', ['start', 'stop'], 0],
    ['ends badly', 'process.exit(3)', ['start', 'failed'], 3],
    ['is killed', "process.kill(process.pid, 'SIGKILL')", ['start'], null],
  ])('says how it began and how it ended when it %s', (name, ending, phases, status) => {
    const file = join(folder, `${name}.ndjson`);
    const code = `import { noteProcess, openHistory } from '${source}';
      noteProcess(openHistory(${JSON.stringify(file)}, 'experts-1'), { processId: 'experts-1', service: 'experts' });\n${ending}`;
    const child = spawnSync(process.execPath, [...flags, '-e', code], { encoding: 'utf8', timeout: 20_000 });
    expect(child.status).toBe(status);
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as HistoryLine);
    expect(lines.map(({ phase }) => phase)).toEqual(phases);
    for (const line of lines)
      expect(line).toMatchObject({ actor: 'experts', op: 'process', id: 'experts-1', data: { pid: child.pid, service: 'experts' } });
  });

  it('has a line for each position that a group committed', () => {
    const { written, history, logger } = listeners();
    const observers = { metrics: openMetrics({ runtime: false }), logger, crashPoints: noCrashPoints };
    const position = { topic: 'tasks.dispatched.expert', partition: 3, offset: '17' };
    deliveryHooks({ ...observers, history }).committed?.('tasks.expert', [position]);
    expect(written).toEqual([{ actor: 'experts', op: 'offset-commit', phase: 'ok', id: 'tasks.expert', data: position }]);
    expect(deliveryHooks({ ...observers, history: noHistory }).committed).toBeUndefined();
  });
});
