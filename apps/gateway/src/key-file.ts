import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { makeFolder } from '@conclave/ports';
import { Failure } from '@conclave/contracts';

export interface KeyFile {
  readonly file: string;
  readonly value: string;
  /** Whether this start has created it. */
  readonly made: boolean;
}

/** Least number of characters of a key; a shorter one could be guessed. */
const shortestKey = 16;

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** Reads the key in a file; null if there is no file. Throws CONFIGURATION_INVALID. */
export function readKeyFile(file: string): string | null {
  let value: string;
  try {
    value = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    if (codeOf(error) === 'ENOTDIR')
      throw new Failure(
        'CONFIGURATION_INVALID',
        `${dirname(file)} is not a folder, so it cannot hold ${basename(file)}. Name a folder (CONCLAVE_HOME sets the data folder).`,
        { cause: error },
      );
    throw new Failure('CONFIGURATION_INVALID', `The key in ${file} cannot be read (${codeOf(error)}). Let this user read the file.`, {
      cause: error,
    });
  }
  if (value.length >= shortestKey && !/\s/.test(value)) return value;
  throw new Failure(
    'CONFIGURATION_INVALID',
    `The file ${file} must hold one key of at least ${shortestKey} characters, without spaces. Write one into it, or delete the file: the next start creates one.`,
  );
}

/** Reads the key in a file, or creates the file, readable only by this user. Throws CONFIGURATION_INVALID. */
export function openKeyFile(file: string): KeyFile {
  const present = readKeyFile(file);
  if (present !== null) return { file, value: present, made: false };
  const value = `sk-conclave-${randomBytes(32).toString('base64url')}`;
  try {
    // It may be the data folder, which contains what people asked.
    makeFolder(dirname(file), 0o700);
    writeFileSync(file, `${value}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // Another process on the same folder was faster; its key is used.
    if (codeOf(error) === 'EEXIST') return { file, value: readKeyFile(file) ?? value, made: false };
    throw new Failure(
      'CONFIGURATION_INVALID',
      `No key can be created at ${file} (${codeOf(error)}). Let this user write there, or put a key of your own into that file.`,
      { cause: error },
    );
  }
  return { file, value, made: true };
}
