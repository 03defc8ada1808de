import { execFileSync } from 'node:child_process';

/** Resident memory of a process in MB as the operating system says it; null when it is gone. */
export function residentMb(pid: number): number | null {
  try {
    return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8', timeout: 10_000 }).trim()) / 1024);
  } catch {
    // ps ends with status 1 for a process that is gone.
    return null;
  }
}
