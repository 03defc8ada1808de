import { inflateRawSync } from 'node:zlib';
import { invalid, tooLarge } from '../refusal.js';

const endRecord = 0x06054b50;
const directoryEntry = 0x02014b50;
const localHeader = 0x04034b50;

export const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

/**
 * The first file of an archive whose name ends as wanted (APPNOTE.TXT 6.3, stored and deflated files without encryption or
 * ZIP64). Inflates at most `longest` bytes, whatever the archive claims.
 */
export function fileInZip(archive: Uint8Array, ending: string, longest: number): Uint8Array {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const broken = (what: string): Error => invalid(`The archive cannot be read: ${what}.`);
  try {
    let end = bytes.length - 22;
    while (end >= 0 && end >= bytes.length - 65_557 && bytes.readUInt32LE(end) !== endRecord) end -= 1;
    if (end < 0 || bytes.readUInt32LE(end) !== endRecord) throw broken('it has no directory');
    const count = bytes.readUInt16LE(end + 10);
    let at = bytes.readUInt32LE(end + 16);
    for (let i = 0; i < count; i += 1) {
      if (bytes.readUInt32LE(at) !== directoryEntry) throw broken('its directory is damaged');
      const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
      const [nameLength, extra, comment] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)];
      const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
      if (name.toLowerCase().endsWith(ending)) {
        const header = bytes.readUInt32LE(at + 42);
        if (bytes.readUInt32LE(header) !== localHeader) throw broken('a file is damaged');
        const start = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
        const data = bytes.subarray(start, start + packed);
        if (data.length !== packed) throw broken('a file is cut off');
        if (method === 0 && packed <= longest) return data;
        if (method === 8) return inflateRawSync(data, { maxOutputLength: longest });
        throw method === 0 ? tooLarge('The file in the archive is too large.') : broken('its compression is unknown');
      }
      at += 46 + nameLength + extra + comment;
    }
    throw broken(`it holds no file that ends in ${ending}`);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge('The file in the archive is too large.');
    if (code === 'ERR_OUT_OF_RANGE' || code === 'ERR_BUFFER_OUT_OF_BOUNDS') throw broken('it is cut off');
    if (code.startsWith('Z_')) throw broken('a file is damaged');
    throw error;
  }
}
