import { setImmediate } from 'node:timers/promises';
import { Failure } from '@conclave/contracts';

/**
 * The texts that lists of token ids stand for. Bytes that are not valid UTF-8, such as when a client cut a text inside a character, become the
 * replacement character. Throws REQUEST_INVALID with the position of an unknown id, REQUEST_TOO_LARGE for more than `mostBytes` of text: some
 * tokens stand for a hundred times the length of their id. `isOne`: the request contains one list, not a list of lists.
 */
export async function textsOfTokens(
  lists: readonly (readonly number[])[],
  { isOne, mostBytes }: { readonly isOne: boolean; readonly mostBytes: number },
): Promise<readonly string[]> {
  const { tokenTable: known } = await import('./token-table.js');
  const texts: string[] = [];
  let bytes = 0;
  for (const [at, list] of lists.entries()) {
    const wrong = list.findIndex((number) => known[number] === undefined);
    if (wrong >= 0)
      throw new Failure(
        'REQUEST_INVALID',
        'The number is not a token id of cl100k_base, the encoding of this model: encode the text with it, or send the text itself.',
        { param: isOne ? `input[${wrong}]` : `input[${at}][${wrong}]` },
      );
    const text = bytesOf(list.map((number) => known[number]!));
    bytes += text.length;
    if (bytes > mostBytes) throw new Failure('REQUEST_TOO_LARGE', `The tokens stand for more than ${mostBytes} bytes of text.`);
    texts.push(text.toString('utf8'));
    // The process can serve other requests between two texts.
    if (at + 1 < lists.length) await setImmediate();
  }
  return texts;
}

function bytesOf(encoded: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(encoded.reduce((sum, one) => sum + one.length, 0));
  let length = 0;
  for (const one of encoded) length += bytes.write(one, length, 'base64');
  return bytes.subarray(0, length);
}
