import { setImmediate } from 'node:timers/promises';
import { Failure } from '@conclave/contracts';

/**
 * The texts that lists of token numbers stand for. Bytes that are no UTF-8, as where a client cut a text between two tokens, become the replacement
 * character. Throws REQUEST_INVALID with the place of a number that stands for nothing; `isOne`: the request holds one list and not a list of lists.
 */
export async function textsOfTokens(lists: readonly (readonly number[])[], isOne: boolean): Promise<readonly string[]> {
  const { tokenTable: known } = await import('./token-table.js');
  const texts: string[] = [];
  for (const [at, list] of lists.entries()) {
    const wrong = list.findIndex((number) => known[number] === undefined);
    if (wrong >= 0)
      throw new Failure(
        'REQUEST_INVALID',
        'The number is no token of cl100k_base, by which the numbers of this model are read: encode the text with it, or send the text itself.',
        { param: isOne ? `input[${wrong}]` : `input[${at}][${wrong}]` },
      );
    texts.push(textOf(list.map((number) => known[number]!)));
    // A process answers others between two texts.
    if (at + 1 < lists.length) await setImmediate();
  }
  return texts;
}

function textOf(encoded: readonly string[]): string {
  const bytes = Buffer.allocUnsafe(encoded.reduce((sum, one) => sum + one.length, 0));
  let length = 0;
  for (const one of encoded) length += bytes.write(one, length, 'base64');
  return bytes.toString('utf8', 0, length);
}
