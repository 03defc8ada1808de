import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import cl100k from 'js-tiktoken/ranks/cl100k_base';

/** Where tiktoken looks for a table before it fetches it; it checks the bytes by a hash of its own. */
const address = 'https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken';

/** A folder for `TIKTOKEN_CACHE_DIR` with the table that LangChain in Python uses to tokenize texts: tests fetch nothing from the network. */
export function tokenTable(): string {
  const folder = mkdtempSync(join(tmpdir(), 'token-table-'));
  const [, first, ...tokens] = cl100k.bpe_ranks.split(' ');
  const lines = tokens.map((token, at) => `${token} ${Number(first) + at}\n`);
  writeFileSync(join(folder, createHash('sha1').update(address).digest('hex')), lines.join(''));
  return folder;
}
