import { createHash } from 'node:crypto';
import * as z from 'zod';
import { invalid, quoted } from '../refusal.js';
import { defineTool, longTextChars } from '../tool.js';

const algorithms = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha3-256', 'sha3-512'] as const;

export const hashText = defineTool({
  name: 'hash_text',
  title: 'Hash',
  description:
    'Hash of a text (UTF-8): md5, sha1, sha224, sha256, sha384, sha512, sha3-256 or sha3-512. A model cannot compute one itself.',
  input: {
    text: z.string(),
    algorithm: z
      .string()
      .default('sha256')
      .meta({ enum: [...algorithms] }),
  },
  output: { algorithm: z.enum(algorithms), hex: z.string(), bytes: z.int().nonnegative().describe('length of the text in UTF-8') },
  limits: { argumentChars: longTextChars },
  run({ text, algorithm: written }) {
    const name = written
      .toLowerCase()
      .replace(/^sha-(?=\d{3}$|1$)/, 'sha')
      .replace('_', '-');
    const algorithm = algorithms.find((known) => known === name);
    if (!algorithm) throw invalid(`${quoted(written)} is not an algorithm known here: use ${algorithms.join(', ')}.`);
    return { algorithm, hex: createHash(algorithm).update(text, 'utf8').digest('hex'), bytes: Buffer.byteLength(text, 'utf8') };
  },
});
