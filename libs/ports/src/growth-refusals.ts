import { constants } from 'node:os';

/** Codes of the operating system for a file that may not grow, with what they mean. */
const sentences: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full.',
  EDQUOT: 'The disk quota of the user that runs this process is used up.',
  EFBIG: 'The file has reached the largest size that this process may write (`ulimit -f`).',
};

/** The code and the sentence if an error of `node:fs` says that a file may not grow; null for any other. */
export function growthRefusal(error: unknown): { readonly code: string; readonly sentence: string } | null {
  const { code = '', errno } = (error ?? {}) as NodeJS.ErrnoException;
  // Node.js has no name for a full quota: the code is "Unknown system error -122".
  const known = errno === -constants.errno.EDQUOT ? 'EDQUOT' : code;
  return Object.hasOwn(sentences, known) ? { code: known, sentence: sentences[known]! } : null;
}
