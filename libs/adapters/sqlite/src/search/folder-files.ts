import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { endingOf, textTypes } from '@conclave/ports/passages';
import type { IndexedFile } from './corpus-index.js';

export interface FolderListing {
  /** Sorted by path. */
  readonly documents: readonly IndexedFile[];
  /** Files that are not read because of their kind, by extension in lower case, with a dot; empty for none. */
  readonly otherKinds: ReadonlyMap<string, number>;
  /** Files that are not read because they are larger than the limit. */
  readonly tooLarge: number;
  /** Subfolders that this process may not read. */
  readonly forbidden: number;
}

/** Size limits of a text, and of a document for the reader. */
const [largestFileBytes, largestReadBytes] = [8 * 1024 * 1024, 20 * 1024 * 1024];
/** Files that are read as they are. */
export const isText = (name: string): boolean => Object.hasOwn(textTypes, endingOf(name));
const isRead = (name: string): boolean => /\.(?:html?|xhtml|pdf|docx|xlsx|pptx)$/i.test(name);
/** What programs keep there is not written to be read: repositories, settings, and packages with thousands of files. */
const installed: ReadonlySet<string> = new Set(['node_modules', 'site-packages']);
const isLeftOut = (name: string): boolean => name.startsWith('.') || installed.has(name);

/** The documents of a folder and its subfolders, except in hidden ones and in installed packages. Links are not followed. */
export async function filesIn(folder: string, hasReader: boolean): Promise<FolderListing> {
  const documents: IndexedFile[] = [];
  const otherKinds = new Map<string, number>();
  let [tooLarge, forbidden] = [0, 0];
  const look = async (path: string): Promise<void> => {
    const entries = readdir(join(folder, path), { withFileTypes: true });
    const found = path === '' ? await entries : await orMissing(entries);
    if (found === 'forbidden') forbidden += 1;
    if (typeof found === 'string') return;
    for (const entry of found) {
      const { name } = entry;
      if (isLeftOut(name)) continue;
      const inside = path === '' ? name : `${path}/${name}`;
      if (entry.isDirectory()) await look(inside);
      else if (!entry.isFile()) continue;
      else if (!isText(name) && !(hasReader && isRead(name))) {
        const kind = extname(name).toLowerCase();
        otherKinds.set(kind, (otherKinds.get(kind) ?? 0) + 1);
      } else {
        const file = await orMissing(stat(join(folder, inside)));
        if (typeof file === 'string') continue;
        if (file.size > (isText(name) ? largestFileBytes : largestReadBytes)) tooLarge += 1;
        else documents.push({ path: inside, stamp: stampOf(file) });
      }
    }
  };
  await look('');
  return { documents: documents.sort((a, b) => (a.path < b.path ? -1 : 1)), otherKinds, tooLarge, forbidden };
}

const stampOf = ({ mtimeMs, size }: Stats): string => `${mtimeMs}:${size}`;

/** What was found, or why it cannot be read: deleted since its folder was listed, or not readable for this process. */
async function orMissing<T>(found: Promise<T>): Promise<T | 'gone' | 'forbidden'> {
  try {
    return await found;
  } catch (error) {
    const missing = missingBy(error);
    if (missing === null) throw error;
    return missing;
  }
}

/** Null for an error that is not about one file or folder alone. */
export function missingBy(error: unknown): 'gone' | 'forbidden' | null {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'gone' : code === 'EACCES' || code === 'EPERM' ? 'forbidden' : null;
}

/** A sentence part about files that are left out; empty if there are none. */
export function leftOutOf({ otherKinds, tooLarge, forbidden }: FolderListing): string {
  const kinds = [...otherKinds].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const files = kinds.reduce((sum, [, count]) => sum + count, 0);
  const named = kinds
    .slice(0, namedKinds)
    .map(([kind, count]) => `${count} ${kind === '' ? 'without extension' : kind}`)
    .join(', ');
  return [
    ...(forbidden === 0 ? [] : [`${forbidden} ${forbidden === 1 ? 'folder' : 'folders'} may not be read`]),
    ...(tooLarge === 0 ? [] : [`${tooLarge} too large`]),
    ...(files === 0 ? [] : [`${files} of other kinds left out (${named}${kinds.length > namedKinds ? ', …' : ''})`]),
  ].join('; ');
}
const namedKinds = 3;
