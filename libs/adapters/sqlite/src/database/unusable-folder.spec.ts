import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { copyAsKilled, newFolder, removeFolder } from '../__fixtures__/folder.js';
import { Database } from './database.js';

let root: string;
beforeEach(() => {
  root = newFolder();
});
afterEach(() => removeFolder(root));

const nobody = 65_534;
const openAndClose = (home: string) => Database.open({ home, durability: 'process', now: Date.now }).close();

/** Acts as a user without rights of its own; root may write anywhere. */
function asNobody<T>(act: () => T): T {
  if (process.geteuid!() !== 0) return act();
  process.seteuid!(nobody);
  try {
    return act();
  } finally {
    process.seteuid!(0);
  }
}

describe('a data folder that cannot be used', () => {
  it.each<[string, RegExp, () => string]>([
    ['below a folder of the kernel', /EPERM|ENOENT|EACCES/, () => (existsSync('/proc/self') ? '/proc/conclave' : '/dev/null/conclave')],
    [
      'deep below a folder of the kernel',
      /EPERM|ENOENT|EACCES|ENOTDIR/,
      () => (existsSync('/proc/self') ? '/proc/a/b/c' : '/dev/null/a/b'),
    ],
    ['that is a file', /ENOTDIR/, () => (writeFileSync(join(root, 'file'), ''), join(root, 'file'))],
    ['below a file', /ENOTDIR/, () => (writeFileSync(join(root, 'file'), ''), join(root, 'file', 'a', 'b'))],
    ['that is a device', /ENOTDIR/, () => '/dev/null'],
    ['that is a link to nothing', /EEXIST/, () => (symlinkSync(join(root, 'missing', 'deep'), join(root, 'link')), join(root, 'link'))],
    ['that is a link to itself', /ELOOP/, () => (symlinkSync(join(root, 'link'), join(root, 'link')), join(root, 'link'))],
    ['of 5,000 characters', /ENAMETOOLONG/, () => join(root, 'a'.repeat(5_000))],
    ['of 5,000 characters in many parts', /ENAMETOOLONG/, () => join(root, 'a/'.repeat(2_500))],
    ['with a NUL in its name', /ERR_INVALID_ARG_VALUE/, () => `${root}/a\0b`],
  ])('%s is refused at once, with what to do', (_case, code, prepare) => {
    const home = prepare();
    const began = Date.now();
    let refusal: unknown;
    try {
      void openAndClose(home);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringMatching(code) });
    const { message } = refusal as Error;
    expect(message).toMatch(/Name a folder in CONCLAVE_HOME that this user may create and write\./);
    expect(message.length).toBeLessThan(500);
    expect(Date.now() - began).toBeLessThan(2_000);
  });

  it.each([
    ['that may only be read', 0o555, true],
    ['of another user', 0o700, false],
    ['in which a folder cannot be created', 0o555, true],
  ])('%s is refused at once, with what to do', (title, mode, own) => {
    const home = join(root, 'home');
    mkdirSync(home);
    if (process.geteuid!() === 0 && own) chownSync(home, nobody, nobody);
    chmodSync(root, 0o755);
    chmodSync(home, process.geteuid!() === 0 || own ? mode : 0o000);
    const used = title.includes('created') ? join(home, 'below') : home;
    try {
      expect(() => asNobody(() => void openAndClose(used))).toThrow(
        /\((?:EACCES|SQLITE_CANTOPEN|SQLITE_READONLY|no file can be opened in it).*\)\. Name a folder in CONCLAVE_HOME that this user may create and write\./,
      );
    } finally {
      chmodSync(home, 0o700);
    }
  });
});

describe('a data folder with damaged files', () => {
  it('whose lock is damaged is refused, names the lock, and is opened with all its data when the lock is deleted', async () => {
    const database = Database.open({ home: root, durability: 'process', now: Date.now });
    await database.write(({ sql }) => sql.run(`INSERT INTO setting (name, version, value) VALUES ('kept', 1, '1')`));
    await database.close();
    writeFileSync(join(root, 'conclave.lock'), 'no lock, and long enough to be read as the head of a database: '.repeat(100));
    expect(() => openAndClose(root)).toThrow(/conclave\.lock is damaged \(SQLITE_NOTADB\)\. It holds no data: .* delete it\.$/);
    rmSync(join(root, 'conclave.lock'));
    const again = Database.open({ home: root, durability: 'process', now: Date.now });
    const names = again.read((sql) => sql.all('SELECT name FROM setting'));
    await again.close();
    expect(names).toEqual([{ name: 'kept' }]);
  });

  it.each([
    ['missing', rmSync],
    ['empty', truncateSync],
  ])('whose file is %s beside a write-ahead log is refused, and the log is kept', async (_case, damage) => {
    const database = Database.open({ home: root, durability: 'process', now: Date.now });
    const copy = join(root, 'copy');
    copyAsKilled(root, copy);
    await database.close();
    damage(join(copy, 'conclave.db'));
    const bytes = statSync(join(copy, 'conclave.db-wal')).size;
    expect(() => openAndClose(copy)).toThrow(/conclave\.db .* is missing or empty, but its write-ahead log .* Put conclave\.db back/);
    expect(statSync(join(copy, 'conclave.db-wal')).size).toBe(bytes);
    expect(bytes).toBeGreaterThan(0);
  });
});

describe('a missing data folder', () => {
  it('is created with those above it, readable only by this user, and through links', async () => {
    mkdirSync(join(root, 'real'));
    symlinkSync(join(root, 'real'), join(root, 'link'));
    await openAndClose(join(root, 'link', 'a', 'b'));
    expect(existsSync(join(root, 'real', 'a', 'b', 'conclave.db'))).toBe(true);
  });
});

it('the files in a data folder that others may list are readable only by this user', async () => {
  chmodSync(root, 0o755);
  const database = Database.open({ home: root, durability: 'process', now: Date.now });
  const modes = readdirSync(root)
    .filter((name) => name.startsWith('conclave.db'))
    .map((name) => [name, statSync(join(root, name)).mode & 0o077]);
  await database.close();
  expect(modes).toEqual([
    ['conclave.db', 0],
    ['conclave.db-shm', 0],
    ['conclave.db-wal', 0],
  ]);
});
