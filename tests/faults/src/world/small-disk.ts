import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A folder that can be filled, so that no byte fits any more. */
export interface SmallDisk {
  /** `tmpfs`: a separate file system is full. `limit`: the process may not let any file grow (for users who may not mount). */
  readonly how: 'tmpfs' | 'limit';
  /** From now on nothing more fits. */
  fill(): void;
  /** There is room again. */
  free(): void;
  /** Puts the folder back where it was. Its process must have ended. */
  remove(): void;
}

const megabytes = 64;

/** Moves an unused data folder to a small file system; null if this user may not mount one. */
export function mountSmallDisk(home: string): SmallDisk | null {
  const aside = `${home}-aside`;
  renameSync(home, aside);
  mkdirSync(home, { mode: 0o700 });
  const copyBack = (): void => {
    cpSync(home, `${aside}-new`, { recursive: true });
  };
  try {
    asRoot('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', home);
  } catch {
    // Mounting is not allowed here: the caller uses the other method.
    rmSync(home, { recursive: true });
    renameSync(aside, home);
    return null;
  }
  cpSync(aside, home, { recursive: true });
  rmSync(aside, { recursive: true });
  const filler = join(home, 'filler');
  return {
    how: 'tmpfs',
    fill: () => fillUp(filler),
    free: () => rmSync(filler, { force: true }),
    remove() {
      rmSync(filler, { force: true });
      copyBack();
      asRoot('umount', home);
      rmSync(home, { recursive: true });
      renameSync(`${aside}-new`, home);
    },
  };
}

/**
 * The same for a process that already runs: none of its files may grow beyond the present size of the largest file in its folder. Linux
 * only.
 */
export function limitFiles(home: string, pid: number): SmallDisk {
  const set = (bytes: string): void => void execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`], { timeout: 10_000 });
  return {
    how: 'limit',
    fill: () => set(String(Math.max(...readdirSync(home).map((file) => statSync(join(home, file)).size)))),
    free: () => set('unlimited'),
    remove: () => undefined,
  };
}

/** Down to the last byte: pieces get smaller until none fits. */
function fillUp(file: string): void {
  for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
    const piece = Buffer.alloc(size);
    for (let full = false; !full;) {
      try {
        writeFileSync(file, piece, { flag: existsSync(file) ? 'a' : 'w' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        full = true;
      }
    }
  }
}

/** Runs a command as this user if it is root, otherwise through sudo without a password. Throws if neither is possible. */
function asRoot(...command: readonly string[]): void {
  const line = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command];
  execFileSync(line[0]!, line.slice(1), { stdio: 'pipe', timeout: 30_000 });
}
