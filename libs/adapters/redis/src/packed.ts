import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Prefix of a packed text. JSON never begins with it. */
const mark = '~';
/** Shorter texts are not packed: that would save less than it costs. */
const leastCharacters = 1_000;

/** JSON that is not expected to be read soon: deflated, in base64, because replies of the client library are text. */
export function packed(json: string): string {
  if (json.length < leastCharacters) return json;
  const text = mark + deflateRawSync(json, { level: 1 }).toString('base64');
  return text.length < json.length ? text : json;
}

/** The JSON of a text that may be packed. */
export const unpacked = (text: string): string =>
  text.startsWith(mark) ? inflateRawSync(Buffer.from(text.slice(mark.length), 'base64')).toString() : text;
