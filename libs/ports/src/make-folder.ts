import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and those above it that are missing; `mode` applies to the created ones. Throws the error of the operating system, also
 * ENOTDIR if a file has the name. It replaces the recursive mkdir of Node, which never returns where nothing can be created although the
 * folder above exists, such as in /proc.
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let folder = resolve(path);
  for (; !statSync(folder, { throwIfNoEntry: false }); folder = dirname(folder)) missing.unshift(folder);
  for (const name of missing) makeOne(name, mode);
  if (!statSync(path).isDirectory()) throw Object.assign(new Error(`${path} is not a folder.`), { code: 'ENOTDIR' });
}

function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created it in the meantime; a link whose target is missing has the name, too.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
