import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { invalid } from '../refusal.js';
import { defineTool, longTextChars } from '../tool.js';

const alphabets = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/;

/** The bytes, or a refusal for input that a lenient decoder would silently drop. */
function decoded(text: string): Buffer {
  const compact = text.replaceAll(/[\s]/g, '');
  if (!alphabets.test(compact)) throw invalid('This is not Base64: only A-Z a-z 0-9 + / (or - _) and = at the end are allowed.');
  const bare = compact.replace(/=+$/, '');
  if (bare.length % 4 === 1 || (compact !== bare && compact.length % 4 !== 0))
    throw invalid('This Base64 text is cut off or padded wrongly.');
  const bytes = Buffer.from(bare, 'base64');
  const again = bytes.toString('base64').replace(/=+$/, '');
  if (again !== bare.replaceAll('-', '+').replaceAll('_', '/'))
    throw invalid('The last character of this Base64 text carries bits that do not belong to a byte.');
  return bytes;
}

export const base64Codec = defineTool({
  name: 'base64_codec',
  title: 'Base64',
  description: 'Encodes a text (UTF-8) to Base64 or decodes Base64 to text. Use it instead of decoding by hand.',
  input: {
    text: z.string(),
    mode: z.enum(['encode', 'decode']).default('encode'),
    url_safe: z.boolean().default(false).describe('encode with - and _ and without padding; decoding takes both alphabets'),
  },
  output: {
    result: z.string().describe('the text, or hexadecimal bytes when `encoding` is hex'),
    encoding: z.enum(['base64', 'base64url', 'utf-8', 'hex']),
    bytes: z.int().nonnegative(),
  },
  limits: { argumentChars: longTextChars },
  run({ text, mode, url_safe }) {
    if (mode === 'encode') {
      const encoding = url_safe ? ('base64url' as const) : ('base64' as const);
      const bytes = Buffer.from(text, 'utf8');
      return { result: bytes.toString(encoding), encoding, bytes: bytes.length };
    }
    const bytes = decoded(text);
    if (!isUtf8(bytes)) return { result: bytes.toString('hex'), encoding: 'hex' as const, bytes: bytes.length };
    return { result: bytes.toString('utf8'), encoding: 'utf-8' as const, bytes: bytes.length };
  },
});
