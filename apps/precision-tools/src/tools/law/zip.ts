import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { invalid, Refusal, tooLarge } from '../refusal.js';

export const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

/**
 * The first file of an archive whose name ends in `ending`. Accepts at most `longest` bytes: a file that claims more is refused before
 * it is inflated, and one that inflates to more than it claims is refused on the way.
 */
export async function fileInZip(archive: Uint8Array, ending: string, longest: number): Promise<Uint8Array> {
  try {
    const zip = await fromBufferPromise(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength), { validateEntrySizes: true });
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.toLowerCase().endsWith(ending)) continue;
      if (entry.uncompressedSize > longest) throw tooLarge('The file in the archive is too large.');
      return await buffer(await zip.openReadStreamPromise(entry));
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    // The library's own messages may repeat names from the archive.
    throw invalid('The archive cannot be read: it is damaged, encrypted or compressed in an unknown way.', { cause: error });
  }
  throw invalid(`The archive cannot be read: it holds no file that ends in ${ending}.`);
}
