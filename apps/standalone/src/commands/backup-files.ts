import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { makeFolder } from '@conclave/ports';
import * as z from 'zod';
import { UsageMistake } from './usage.js';

/** The manifest of a backup. */
export const Manifest = z.object({
  format: z.int().positive(),
  kind: z.enum(['embedded', 'distributed']),
  made_at: z.iso.datetime(),
  program: z.string(),
  /** Version of the tables of an embedded installation; otherwise null. */
  data_version: z.int().nullable(),
  files: z.array(z.object({ name: z.string(), bytes: z.int().nonnegative(), sha256: z.string() })),
});
export type Manifest = z.infer<typeof Manifest>;

export const manifestName = 'backup.json';
/** Format of the backups that this program writes and reads. */
export const backupFormat = 1;

export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Every file below a folder, as paths with `/`, in order. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();

export async function listed(folder: string): Promise<Manifest['files']> {
  const files = [];
  for (const name of filesBelow(folder).filter((file) => file !== manifestName))
    files.push({ name, bytes: statSync(join(folder, name)).size, sha256: await hashOf(join(folder, name)) });
  return files;
}

/** Reads a backup and checks that it is whole. Throws UsageMistake with what is wrong. */
export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, manifestName);
  if (!existsSync(file)) throw new UsageMistake(`${folder} holds no backup: there is no ${manifestName} in it.`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageMistake(`${file} cannot be read: the backup is damaged.`, { cause: error });
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > backupFormat)
    throw new UsageMistake(
      `This backup has the format ${format}, and this program reads up to ${backupFormat}. Restore it with the version that made it.`,
    );
  const manifest = Manifest.safeParse(value);
  if (!manifest.success) throw new UsageMistake(`${file} is not the list of a backup, or it is damaged.`);
  for (const { name, bytes, sha256 } of manifest.data.files) {
    const path = join(folder, name);
    // Names come from a file that others may have written.
    if (name.split('/').includes('..') || name.startsWith('/')) throw new UsageMistake(`${file} names ${name}, which is outside of it.`);
    if (!existsSync(path)) throw new UsageMistake(`The backup is not whole: ${name} is missing.`);
    if (statSync(path).size !== bytes || (await hashOf(path)) !== sha256)
      throw new UsageMistake(`The backup is damaged: ${name} is not as it was written.`);
  }
  return manifest.data;
}

export const isArchive = (path: string): boolean => /\.(tgz|tar\.gz)$/.test(path);

/** Packs a folder into one file, or unpacks it, with the `tar` of the system. Throws UsageMistake. */
export function tar(how: 'pack' | 'unpack', archive: string, folder: string): void {
  if (how === 'unpack') makeFolder(folder, 0o700);
  const { status, stderr, error } = spawnSync(
    'tar',
    [how === 'pack' ? '-czf' : '-xzf', archive, '-C', folder, ...(how === 'pack' ? ['.'] : [])],
    {
      encoding: 'utf8',
    },
  );
  if (status === 0) return;
  throw new UsageMistake(
    `tar could not ${how} ${archive} (${error ? error.message : stderr.trim()}). Without tar, name a folder instead of a file.`,
    ...(error ? [{ cause: error }] : []),
  );
}
