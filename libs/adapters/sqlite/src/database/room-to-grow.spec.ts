import { execFile } from 'node:child_process';
import { closeSync, readdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newFolder, removeFolder } from '../__fixtures__/folder.js';
import { Database } from './database.js';
import { refusedGrowth } from './room-to-grow.js';
import { storeFailure } from './store-failure.js';

const run = promisify(execFile);
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
let folder: string;
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => removeFolder(folder));

/** Writes in a process that may write files of at most this many KiB, and returns what it says. */
const writing = async (kib: number): Promise<Record<string, unknown>> => {
  const loader = path('../../../../../tests/support/typescript-loader.mjs');
  const command = ['-c', `ulimit -f ${kib}; exec "$@"`, 'limited', process.execPath, '--no-warnings', '--import', loader];
  const { stdout } = await run('bash', [...command, path('../__fixtures__/limited-writer.ts'), folder]);
  return JSON.parse(stdout) as Record<string, unknown>;
};

describe('a store that may not grow', () => {
  it('because of a limit for the size of a file says that it is full, and has everything that it acknowledged', async () => {
    const said = await writing(1_500);
    expect(said).toMatchObject({ code: 'STORE_FULL', health: expect.stringContaining('ulimit -f'), stored: said['acknowledged'] });
    expect(said['acknowledged']).toBeGreaterThan(10);
    expect(said['message']).toMatch(/SQLITE_IOERR_WRITE: .*\(`ulimit -f`\)\. \(EFBIG\)/);
    expect(readdirSync(folder).filter((name) => name.includes('trial'))).toEqual([]);
    const again = Database.open({ home: folder, durability: 'process', now: Date.now });
    expect(again.read((sql) => sql.all('SELECT name FROM setting').length)).toBe(said['acknowledged']);
    await again.close();
  });

  it('from the beginning is not opened, for the same reason', async () => {
    expect(await writing(64)).toMatchObject({ opened: false, code: 'STORE_FULL', message: expect.stringContaining('EFBIG') });
  });

  it.each(['sync', 'close'] as const)('where a write is accepted and refused at the %s, as on NFS, says so', (when) => {
    const refusing = (file: number): void => {
      if (when === 'close') closeSync(file);
      throw Object.assign(new Error('quota'), { code: 'Unknown system error', errno: -constants.errno.EDQUOT });
    };
    expect(refusedGrowth(join(folder, 'conclave.db'), { [when]: refusing })).toMatch(/quota .* \(EDQUOT\)$/);
    expect(readdirSync(folder)).toEqual([]);
    expect(refusedGrowth(join(folder, 'conclave.db'))).toBeNull();
  });

  it('is told apart from one whose device fails', () => {
    const failing = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' });
    expect(storeFailure(failing, join(folder, 'conclave.db'))).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(readdirSync(folder)).toEqual([]);
    // Nothing can be tried where no file can be created, which is another fault.
    writeFileSync(join(folder, 'file'), '');
    expect(refusedGrowth(join(folder, 'file', 'conclave.db'))).toBeNull();
    expect(storeFailure(failing, ':memory:')).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
