import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HistoryWriter, openOperations, readHistory } from './history.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'history-'));
  file = join(folder, 'history.ndjson');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a history', () => {
  it('is empty without a file', () => expect(readHistory(file)).toEqual([]));

  it('closes an operation that threw as failed and rethrows the error', async () => {
    const writer = new HistoryWriter(file, 'p', 'client');
    await expect(writer.operation('ask', 'r1', null, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await writer.operation('ask', 'r2', null, () => Promise.resolve(1));
    expect(readHistory(file).map((entry) => `${entry.id} ${entry.phase}`)).toEqual(['r1 invoke', 'r1 fail', 'r2 invoke', 'r2 ok']);
  });

  it('leaves out a last line that was cut off by the death of its writer, and reports any other broken line', () => {
    const writer = new HistoryWriter(file, 'p', 'client');
    writer.write('ask', 'invoke', 'r1');
    appendFileSync(file, '{"at":1,"op":"as');
    expect(readHistory(file)).toHaveLength(1);
    expect(openOperations(readHistory(file)).map((entry) => entry.id)).toEqual(['r1']);
    appendFileSync(file, '\n');
    expect(() => readHistory(file)).toThrow('Line 2');
  });
});
