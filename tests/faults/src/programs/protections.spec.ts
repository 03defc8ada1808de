import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { deliveryHooks, noProbe, openLogger, openMetrics, silentLogger, type HistoryLine, type LogLine } from '@conclave/platform';
import { faultProbe } from './open-probe.js';
import { announceProtections, protectionNames, protections, protectionsOff } from './protections.js';

function listeners() {
  const said: LogLine[] = [];
  const written: HistoryLine[] = [];
  const logger = openLogger({ level: 'info', sinks: [{ write: (line) => void said.push(line), close: () => {} }] });
  return { said, written, logger, note: (line: HistoryLine) => void written.push(line) };
}

describe('a switch that removes a protection', () => {
  it('is off unless it is set', () => {
    expect(protectionsOff(undefined).size).toBe(0);
    expect(protectionsOff('').size).toBe(0);
  });

  it('accepts every name of the list, and several at once', () => {
    const all = protectionNames.join(', ');
    expect([...protectionsOff(all)]).toEqual(protectionNames);
    expect(new Set(protectionNames).size).toBe(protections.length);
  });

  it('does nothing without a history, and is refused for a name that is not on the list', () => {
    const process = { processId: 'experts-1', service: 'experts', logger: silentLogger };
    expect(faultProbe({ WITHOUT_PROTECTION: 'journal', CRASH_AT: 'experts:after-call' })(process)).toBe(noProbe);
    expect(() => protectionsOff('jornal')).toThrow(/names of offset-tracker/);
  });

  it('is announced with what is lost, in the log and in the history; remaining protections are not mentioned', () => {
    const to = listeners();
    announceProtections(new Set(['journal']), 'experts', to);
    expect(to.said).toMatchObject([
      { level: 'warn', protection: 'journal', message: expect.stringContaining('pays its finished model calls again') },
    ]);
    expect(to.written).toEqual([{ actor: 'experts', op: 'protection', phase: 'off', id: 'journal' }]);
  });
});

describe('the history of a process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-history-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const source = pathToFileURL(join(import.meta.dirname, 'history-file.ts')).href;
  const loader = join(import.meta.dirname, '../../../support/typescript-loader.mjs');
  const flags = ['--no-warnings', '--import', loader, '--input-type=module'];

  it.each([
    ['ends well', '', ['start', 'stop'], 0],
    ['ends badly', 'process.exit(3)', ['start', 'failed'], 3],
    ['is killed', "process.kill(process.pid, 'SIGKILL')", ['start'], null],
  ])('contains its start, and its end when it %s', (name, ending, phases, status) => {
    const file = join(folder, `${name}.ndjson`);
    const code = `import { historyFile, noteProcess } from '${source}';
      noteProcess(historyFile(${JSON.stringify(file)}, 'experts-1'), { processId: 'experts-1', service: 'experts' });\n${ending}`;
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
    const { written, note, logger } = listeners();
    const observers = { metrics: openMetrics(), logger };
    const position = { topic: 'tasks.dispatched.expert', partition: 3, offset: '17' };
    deliveryHooks({ ...observers, probe: { ...noProbe, records: true, note } }).committed?.('tasks.expert', [position]);
    expect(written).toEqual([{ actor: 'experts', op: 'offset-commit', phase: 'ok', id: 'tasks.expert', data: position }]);
    expect(deliveryHooks({ ...observers, probe: noProbe }).committed).toBeUndefined();
  });
});
