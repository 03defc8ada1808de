import cl100k from 'js-tiktoken/ranks/cl100k_base';

/**
 * Base64 of the bytes for each token id of cl100k_base, which clients use for a model whose name they do not know. Imported for the first request
 * that needs it: 1 MB. The encoder of the same library would block the process for half a second and take 80 MB, so only its table is used.
 */
export const tokenTable: readonly (string | undefined)[] = read();

function read(): readonly string[] {
  const all: string[] = [];
  for (const line of cl100k.bpe_ranks.split('\n').filter(Boolean)) {
    const [, first, ...tokens] = line.split(' ');
    for (const [at, token] of tokens.entries()) all[Number(first) + at] = token;
  }
  for (const [text, number] of Object.entries(cl100k.special_tokens)) all[number] = Buffer.from(text).toString('base64');
  return all;
}
