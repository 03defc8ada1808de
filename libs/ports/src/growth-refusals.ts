/** Codes of the operating system for a file that may not grow, with what they mean. */
export const growthRefusals: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full.',
  EDQUOT: 'The disk quota of the user that runs this process is used up.',
  EFBIG: 'The file has reached the largest size that this process may write (`ulimit -f`).',
};
