import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { strToU8, zipSync, type Zippable } from 'fflate';
import type { ReadDocument } from '@conclave/ports';
import { openDocumentReader } from './document-reader.js';

// Made by python-docx, openpyxl and python-pptx: see make.py beside them.
const file = (name: string): Buffer => readFileSync(new URL(`./__fixtures__/office/${name}`, import.meta.url));

const reader = openDocumentReader({ processes: 1, timeoutMs: 60_000, maxPages: 50 });
afterAll(() => reader.close());
const read = (name: string, bytes: Uint8Array = file(name), mime = ''): Promise<ReadDocument> => reader.read({ bytes, mime, name });
const failureOf = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error: { code: string; message: string }) => error,
  );
/** Invisible text is in capitals. */
const unseen = /[A-Z]{4,}/;

describe('a DOCX', () => {
  it('keeps headings, lists and tables, and leaves out hidden and deleted text', async () => {
    const { title, text, mime, notices } = await read('lighthouses.docx');
    expect([title, mime]).toEqual(['Lighthouses of Merrow', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document']);
    expect(text).toBe(
      [
        '# Lighthouses of Merrow',
        'The islands of Merrow have three lighthouses & one foghorn.',
        '# Gannet Rock',
        'The lamp of Gannet Rock was lit in 1871 by Isolde Fenwick.',
        '## Keepers',
        '- Isolde Fenwick\n- Tobias Marsh',
        '# Heights',
        'Tower | Metres\nGannet Rock | 41\nSeal Point | 27',
        'Seen.',
        'Kept inserted',
      ].join('\n\n'),
    );
    expect(notices).toEqual(['1 hidden element was left out.']);
  });
});

describe('an XLSX', () => {
  it('has a section for each sheet, dates and percentages as displayed, and nothing hidden', async () => {
    const { title, text, notices } = await read('ferries.xlsx');
    expect(title).toBe('Ferries of Merrow');
    expect(text).toContain(
      '# Ferries\n\n## Rows 1 to 7\n\nFerry | Harbour | Launched | Seats | Full | Runs\nKittiwake | Port Aldous | 1998-05-14 | 240 | 62.5% | TRUE\nRazorbill | Skerry Bay | 2011-09-02 06:30 | 180 | 90% | FALSE\nTotal',
    );
    expect(text.replace(/TRUE|FALSE/g, '')).not.toMatch(unseen);
    expect(notices).toEqual(['2 hidden sheets were left out.', '5 hidden cells were left out.']);
  });

  it('repeats the names of the columns in each part of a long sheet', async () => {
    const { text } = await read('ferries.xlsx');
    expect(text).toContain('# Tides\n\n## Rows 1 to 40\n\nDay | High water\nDay 1 | 1:15');
    expect(text).toContain('## Rows 41 to 80\n\nDay | High water\nDay 40 | 4:15');
    expect(text).toContain('Day 100 | 4:15');
  });

  it('keeps values under their columns if cells between them are empty', async () => {
    const { text } = await read(
      'gaps.xlsx',
      book({ 'xl/worksheets/sheet1.xml': sheet('<row r="2"><c r="A2"><v>1</v></c><c r="D2"><v>0.1</v></c></row>') }),
    );
    expect(text).toBe('# One\n\n## Rows 2 to 2\n\n1 |  |  | 0.1'.replace(/ {2}/g, ' '));
  });
});

describe('a PPTX', () => {
  it('has a section for each slide with its title and notes, and nothing hidden', async () => {
    const { title, text, notices } = await read('museum.pptx');
    expect(title).toBe('The Merrow Museum');
    expect(text).toBe(
      [
        '# Slide 1: The Merrow Museum',
        'Founded in the old customs house',
        '# Slide 2: The collection',
        'The brass astrolabe was given by Leontine Vasse',
        '  - It was made in 1644',
        'Object | Room\nAstrolabe | Blue room',
        '## Notes',
        'Mention the theft of 1932.',
        '# Slide 4',
        'Open from May to October.',
      ].join('\n\n'),
    );
    expect(notices).toEqual(['1 hidden slide was left out.', '3 hidden elements were left out.']);
  });
});

const zip = (parts: Readonly<Record<string, string | Uint8Array>>): Uint8Array =>
  zipSync(
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, typeof part === 'string' ? strToU8(part) : part])) as Zippable,
  );
const relations = (...targets: readonly [type: string, target: string][]): string =>
  `<Relationships>${targets.map(([type, target], at) => `<Relationship Id="r${at + 1}" Type="http://x/${type}" Target="${target}"/>`).join('')}</Relationships>`;
const sheet = (rows: string): string => `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
const book = (more: Readonly<Record<string, string | Uint8Array>>, sheets = '<sheet name="One" sheetId="1" r:id="r1"/>'): Uint8Array =>
  zip({
    '_rels/.rels': relations(['officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `<workbook><sheets>${sheets}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(['worksheet', 'worksheets/sheet1.xml'], ['sharedStrings', 'sharedStrings.xml']),
    ...more,
  });
const word = (body: string, head = ''): Uint8Array =>
  zip({
    '_rels/.rels': relations(['officeDocument', 'word/document.xml']),
    'word/document.xml': `${head}<document><body>${body}</body></document>`,
  });

describe('a hostile Office document', () => {
  it.each<[string, string, () => Uint8Array, string, RegExp]>([
    [
      'that is not an archive',
      'a.docx',
      () => Buffer.from('PK\u0003\u0004 nothing'),
      'DOCUMENT_UNREADABLE',
      /broken, or not an Office document/,
    ],
    ['of another kind', 'a.pptx', () => file('ferries.xlsx'), 'DOCUMENT_UNREADABLE', /broken|no text/],
    ['that is encrypted', 'a.xlsx', () => Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'DOCUMENT_UNREADABLE', /password/],
    [
      'that declares entities',
      'a.docx',
      () => word('<p><r><t>&a;</t></r></p>', '<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>'),
      'DOCUMENT_UNREADABLE',
      /entities/,
    ],
    [
      'with an external entity',
      'a.docx',
      () => word('<p><r><t>&a;</t></r></p>', '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
      'DOCUMENT_UNREADABLE',
      /entities/,
    ],
    ['that nests without end', 'a.docx', () => word('<tbl><tr><tc>'.repeat(5_000)), 'DOCUMENT_UNREADABLE', /deeply nested/],
    ['that unpacks to gigabytes', 'a.docx', () => bomb(), 'DOCUMENT_TOO_LARGE', /unpacks to more than 256 MB/],
    [
      'with thousands of parts',
      'a.docx',
      () => zip(Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`p${at}`, '']))),
      'DOCUMENT_TOO_LARGE',
      /more than 20000 parts/,
    ],
    [
      'with 10,000 sheets',
      'a.xlsx',
      () => book({}, '<sheet name="S" r:id="r1"/>'.repeat(10_000)),
      'DOCUMENT_TOO_LARGE',
      /10000 sheets; 50 are read/,
    ],
    ['with 10,000 slides', 'a.pptx', () => slides(10_000), 'DOCUMENT_TOO_LARGE', /10000 slides; 50 are read/],
    [
      'whose text never ends',
      'a.docx',
      () => word('<p><r><t>word word word word</t></r></p>'.repeat(400_000)),
      'DOCUMENT_TOO_LARGE',
      /longer than 5000000 characters/,
    ],
  ])(
    '%s is refused',
    async (_, name, bytes, code, message) => {
      expect(await failureOf(read(name, bytes()))).toMatchObject({ code, message: expect.stringMatching(message) });
    },
    // Packing the largest takes five seconds on an idle machine.
    120_000,
  );

  it('with a part that claims to be smaller than it is yields no more than it claimed', async () => {
    const body = `<document><body>${'<p><r><t>long</t></r></p>'.repeat(100_000)}</body></document>`;
    const lying = Buffer.from(zip({ 'word/document.xml': body }));
    const declared = Buffer.alloc(4);
    declared.writeUInt32LE(Buffer.byteLength(body));
    for (let at = lying.indexOf(declared); at >= 0; at = lying.indexOf(declared, at + 4)) lying.writeUInt32LE(1_000, at);
    expect(await failureOf(read('a.docx', lying))).toMatchObject({ code: 'DOCUMENT_UNREADABLE' });
  });

  it('that is slow to read is ended', async () => {
    const hasty = openDocumentReader({ processes: 1, timeoutMs: 1 });
    try {
      expect(
        await failureOf(hasty.read({ bytes: word('<p><r><t>word</t></r></p>'.repeat(300_000)), mime: '', name: 'a.docx' })),
      ).toMatchObject({
        code: 'DOCUMENT_UNREADABLE',
        message: expect.stringContaining('took longer'),
      });
    } finally {
      await hasty.close();
    }
  });

  it('that breaks off is refused, and the next one is read', async () => {
    for (const name of ['lighthouses.docx', 'ferries.xlsx', 'museum.pptx'])
      for (const share of [0.3, 0.6, 0.95]) {
        const bytes = file(name);
        expect(await failureOf(read(name, bytes.subarray(0, Math.floor(bytes.length * share))))).toMatchObject({
          code: 'DOCUMENT_UNREADABLE',
        });
      }
    expect((await read('museum.pptx')).title).toBe('The Merrow Museum');
  });
});

it('an Office document is recognised by its media type or the ending of its name, whatever a browser says', async () => {
  const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  expect((await read('x', file('lighthouses.docx'), docx)).mime).toBe(docx);
  expect((await read('lighthouses.docx', file('lighthouses.docx'), 'application/zip')).mime).toBe(docx);
  expect(await failureOf(read('x.zip', file('lighthouses.docx'), 'application/zip'))).toMatchObject({ code: 'DOCUMENT_UNSUPPORTED' });
});

function bomb(): Uint8Array {
  const zeros = new Uint8Array(300 * 1024 * 1024);
  return zip({ '_rels/.rels': relations(['officeDocument', 'word/document.xml']), 'word/document.xml': zeros });
}

function slides(count: number): Uint8Array {
  return zip({
    '_rels/.rels': relations(['officeDocument', 'ppt/presentation.xml']),
    'ppt/presentation.xml': `<presentation><sldIdLst>${'<sldId id="1" r:id="r1"/>'.repeat(count)}</sldIdLst></presentation>`,
  });
}
