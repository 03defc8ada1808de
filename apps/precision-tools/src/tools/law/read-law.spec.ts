import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inventedLaw, zipped } from '../__fixtures__/law-server.js';
import { Refusal } from '../refusal.js';
import { readLaw } from './read-law.js';
import { readXml } from './xml.js';
import { fileInZip } from './zip.js';

const longest = 1_000;
const content = Buffer.from('<law>'.repeat(100));
const archive = zipped('a.xml', content);
/** Where the directory of the archive begins: after the head, the name and the data of its only file. */
const directory = archive.length - 22 - 46 - 5;
const changed = (at: number, value: number): Buffer => {
  const copy = Buffer.from(archive);
  copy.writeUInt32LE(value, at);
  return copy;
};
const refusalOf = async (work: () => unknown): Promise<Refusal> => {
  try {
    await work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
};

describe('the reader of archives', () => {
  it('reads the first file of the wanted kind, whatever its letter case', async () => {
    expect(Buffer.from(await fileInZip(zipped('B.XML', content), '.xml', longest))).toEqual(content);
    expect((await refusalOf(() => fileInZip(archive, '.json', longest))).message).toContain('no file that ends in .json');
  });

  it.each([
    ['that claims more than may be taken', changed(directory + 24, longest + 1), 'LIMIT_EXCEEDED'],
    ['that inflates to more than it claims', changed(directory + 24, 10), 'INVALID_ARGUMENT'],
    ['that inflates to less than it claims', changed(directory + 24, longest), 'INVALID_ARGUMENT'],
    ['that is encrypted', changed(directory + 8, 0x0008_0001), 'INVALID_ARGUMENT'],
    ['whose compression is unknown', changed(directory + 8, 0x000c_0000), 'INVALID_ARGUMENT'],
    ['that lies outside', changed(directory + 42, 0x7fff_ffff), 'INVALID_ARGUMENT'],
    ['that is cut off', archive.subarray(0, archive.length - 1), 'INVALID_ARGUMENT'],
    ['whose name leads elsewhere', zipped('../a.xml', content), 'INVALID_ARGUMENT'],
  ])('refuses a file %s', async (_what, bytes, code) => {
    expect((await refusalOf(() => fileInZip(bytes, '.xml', longest))).code).toBe(code);
  });

  it('returns at most the allowed size, or refuses, for any bytes', async () => {
    const changes = fc.array(fc.tuple(fc.nat(archive.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(changes, async (places) => {
        const bytes = Buffer.from(archive);
        for (const [place, value] of places) bytes[place] = value;
        const taken = await fileInZip(bytes, '.xml', longest).catch((error: unknown) => error);
        if (!(taken instanceof Refusal)) expect((taken as Uint8Array).length).toBeLessThanOrEqual(longest);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the reader of XML', () => {
  const textOf = (source: string): string => {
    let text = '';
    readXml(source, { open() {}, close() {}, text: (data) => void (text += data) });
    return text;
  };

  it('reports texts, character references and CDATA in order', () =>
    expect(textOf('<?xml version="1.0"?><!DOCTYPE a SYSTEM "x"><a b="&gt;">1 &lt; 2<!-- no --> &#228;<![CDATA[ & <b>]]></a>')).toBe(
      '1 < 2 ä & <b>',
    ));

  it.each([
    ['<a><b></a></b>', 'not well-formed'],
    ['<a>', 'not well-formed'],
    ['<a b=1/>', 'not well-formed'],
    ['<a>&nbsp;</a>', 'not well-formed'],
    ['<a>&#x110000;</a>', 'not well-formed'],
    ['no tag', 'not well-formed'],
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 'entities of its own'],
    [`<!DOCTYPE a [${'<!ENTITY b "c">'.repeat(20_000)}]><a/>`, 'well-formed XML: Max buffer length'],
    [`<a ${'b'.repeat(200_000)}=""/>`, 'well-formed XML: Max buffer length'],
    ['<a>'.repeat(201), 'nested more than 200'],
  ])('refuses a document: %#', async (source, words) => expect((await refusalOf(() => textOf(source))).message).toContain(words));

  it('reads a text of any length in parts', () => {
    const long = 'ä'.repeat(1_000_000);
    expect(textOf(`<a>${long}</a>`)).toBe(long);
  });
});

it('a law reads the same as plain XML and from an archive', async () => {
  const plain = await readLaw(Buffer.from(inventedLaw));
  expect(plain).toMatchObject({ abbreviation: 'PrüfG', built: '20260102212629', enacted: '2001-02-03', norms: { length: 4 } });
  expect(await readLaw(zipped('BJNR1.xml', Buffer.from(inventedLaw)))).toEqual(plain);
});
