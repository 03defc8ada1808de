import { constants, deflateRawSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { DocumentReader, ReadDocument } from '@conclave/ports';
import { describeDocumentReader } from '@conclave/ports/suites';
import { pdfOf, tinyPdf } from './__fixtures__/tiny-pdf.js';
import { openDocumentReader } from './document-reader.js';

describeDocumentReader('The reader of uploads', { open: async () => openDocumentReader() });

const opened: DocumentReader[] = [];
afterAll(() => Promise.all(opened.map((reader) => reader.close())));
const open = (options: Parameters<typeof openDocumentReader>[0] = {}): DocumentReader => {
  const reader = openDocumentReader({ processes: 1, ...options });
  opened.push(reader);
  return reader;
};
const shared = open();
const read = (content: string | Uint8Array, mime: string, name: string, reader = shared): Promise<ReadDocument> =>
  reader.read({ bytes: typeof content === 'string' ? Buffer.from(content) : content, mime, name });
const failureOf = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error: { code: string; message: string }) => error,
  );

describe('an HTML document', () => {
  it('keeps headings, lists, tables, quotes and code as Markdown', async () => {
    const document = await read(
      `<!doctype html><html><head><title>Metals &amp; more</title><style>p{color:red}</style></head><body>
       <h1>Copper</h1><p>A <b>good</b> conductor.<br>Soft, too.</p>
       <h2>Uses</h2><ul><li>wires<ol><li>thin</li><li>thick</li></ol></li><li>pipes</li></ul>
       <table><tr><th>Metal</th><th>MS/m</th></tr><tr><td>Copper</td><td>58</td></tr><tr><td>Iron</td><td>10</td></tr></table>
       <blockquote><p>Wires are made of it.</p></blockquote><pre>  a  = 1
  b  = 2</pre><script>alert('no')</script></body></html>`,
      'text/html',
      'metals.html',
    );
    expect(document).toEqual({
      title: 'Metals & more',
      mime: 'text/html',
      notices: [],
      text: [
        '# Copper',
        'A good conductor.\nSoft, too.',
        '## Uses',
        '- wires\n  1. thin\n  2. thick\n- pipes',
        'Metal | MS/m\nCopper | 58\nIron | 10',
        '> Wires are made of it.',
        '```\n  a  = 1\n  b  = 2\n```',
      ].join('\n\n'),
    });
  });

  it('is read without its hidden parts', async () => {
    const hidden = [
      '<p hidden>h1</p>',
      '<div style="display: none">h2</div>',
      '<span style="VISIBILITY:hidden">h3</span>',
      '<p aria-hidden="true">h4</p>',
      '<p style="position:absolute;left:-9999px">h5</p>',
      '<p style="font-size:0px">h6</p>',
      '<p style="opacity:0">h7</p>',
      '<p class="x">h8</p>',
      '<template>h9</template><noscript>h10</noscript><!-- h11 -->',
      '<p style="color:#fff;background-color:#fff">h12</p>',
      '<p style="dis\\70lay:none">h13</p>',
      '<p id="y">h14</p>',
      '<textarea>h15</textarea>',
      '<p style="color: rgba(0, 0, 0, 0)">h16</p>',
      '<p style="height:0;overflow:hidden">h17</p>',
      '<p style="text-indent:-999em">h18</p>',
    ];
    const seen = ['opacity:0.5', 'margin-left:-480px', 'font-size:1rem', 'color:inherit;background:inherit', 'color:#fff', 'left:-100px'];
    seen.push('color:transparent;background:linear-gradient(red,blue);-webkit-background-clip:text', 'width:100px;overflow:hidden');
    const { text, notices } = await read(
      `<html><head><style>.x{color:red;display:none} @media print{.seen{display:none}} @media screen{#y{visibility:hidden}} @media print{p{color:red} .seen{display:none}} a:hover{display:none}</style></head>
       <body>${hidden.map((part, n) => `${part}<p class="seen" style="${seen[n % seen.length]}">s${n}</p>`).join('')}</body></html>`,
      'text/html',
      'x.html',
    );
    expect(text.split('\n\n')).toEqual(hidden.map((_part, n) => `s${n}`));
    expect(notices.join()).toContain('hidden elements were left out');
  });

  it('is read without its menus, unless it is little else', async () => {
    const menu = '<nav><a href="/">Start</a></nav><div role="navigation">Contents</div>';
    const page = `<body>${menu}<p>${'A long text about the harbour. '.repeat(10)}</p></body>`;
    expect((await read(page, 'text/html', 'x.html')).text).toMatch(/^A long text (?:(?!Start|Contents).)*$/);
    expect((await read(`<body>${menu}<p>Short.</p></body>`, 'text/html', 'x.html')).text).toBe('Start\n\nContents\n\nShort.');
  });

  it('is read in its character set', async () => {
    const html = '<html><head><meta charset="iso-8859-1"><title>x</title></head><body><p>Gr\xfc\xdfe</p></body></html>';
    expect((await read(Buffer.from(html, 'latin1'), 'text/html', 'x.html')).text).toBe('Grüße');
    expect((await read(Buffer.from('\ufeffGrüße', 'utf16le'), 'text/plain', 'x.txt')).text).toBe('Grüße');
    expect(await read(Buffer.from('Gr\xfc\xdfe \x80', 'latin1'), 'text/plain', 'x.txt')).toMatchObject({
      text: 'Grüße €',
      notices: [expect.stringContaining('windows-1252')],
    });
    expect((await read(Buffer.from('\xcf\xd0\xc8\xc2\xc5\xd2', 'latin1'), 'text/plain; charset=windows-1251', 'x.txt')).text).toBe(
      'ПРИВЕТ',
    );
  });

  it('decodes every named character reference, and drops what no browser shows', async () => {
    const html = `<p>&Scaron;koda &check; &NotEqual; &nosuch;<iframe><p>no</p></iframe></p><script/>no</script><p>seen</p><noembed>no`;
    const plain = `${html}${'<i></i>'.repeat(60_001)}`;
    for (const page of [html, plain]) {
      const { text } = await read(page, 'text/html', 'x.html');
      expect(text).toBe('Škoda ✓ ≠ &nosuch;\n\nseen');
    }
  });

  it('expands no entity that it declares itself', async () => {
    const lol = Array.from({ length: 10 }, (_, n) => `<!ENTITY lol${n + 1} "${`&lol${n};`.repeat(10)}">`).join('');
    const bomb = `<?xml version="1.0"?><!DOCTYPE html [<!ENTITY lol0 "lol">${lol}<!ENTITY f SYSTEM "file:///etc/passwd">]>
      <html xmlns="http://www.w3.org/1999/xhtml"><body><p>before &lol9; &f; after</p></body></html>`;
    const { text } = await read(bomb, 'application/xhtml+xml', 'x.xhtml');
    expect(text).toMatch(/before .{0,20} after/);
    expect(text.length).toBeLessThan(60);
  });

  it.each([
    ['deep', '<div>'.repeat(100_000) + 'deep'],
    ['bold', '<b>'.repeat(50_000) + 'bold'],
    ['word', '<p>word '.repeat(70_000)],
    ['start', 'start <!-- '.repeat(50_000)],
    ['start', `start${'<a '.repeat(100_000)}`],
    ['start', `start ${'</script'.repeat(50_000)}`],
    ['start', `<p style="${'display:'.repeat(50_000)}">start</p>`],
    ['start', `<style>${'@media x{.a{'.repeat(20_000)}</style>start`],
    ['cell', `<table>${'<tr><td>cell<table>'.repeat(2_000)}`],
  ])('returns its text however deep, wide or malformed it is: %s', async (word, html) => {
    expect((await read(html, 'text/html', 'x.html')).text).toContain(word);
  });

  it('is read as plain text when parsing takes too long', async () => {
    const rules = Array.from({ length: 1_000 }, (_, n) => `i u.a${n}{display:none}`).join('');
    const html = `<style>${rules}</style><h1>Start</h1><p hidden>secret</p><p>${'<i><u>x</u></i>'.repeat(29_000)}`;
    const { text, notices } = await read(html, 'text/html', 'x.html', open({ timeoutMs: 1_000 }));
    expect([text.startsWith('# Start\n\nxxx'), text.includes('secret')]).toEqual([true, false]);
    expect(notices.join()).toContain('all of its text');
  });
});

describe('a PDF', () => {
  it('is read page by page, and larger lines become headings', async () => {
    const pdf = tinyPdf(
      [
        [{ size: 24, text: 'Copper (Cu)' }, { text: 'Copper conducts electri-' }, { text: 'city better than iron.' }],
        [{ size: 16, text: 'Uses' }, { text: 'Wires and pipes are made of it.' }],
        [{ text: 'The end of the third page.' }],
      ],
      { title: 'About copper' },
    );
    for (const [mime, name] of [
      ['application/pdf', 'a.pdf'],
      ['', 'a.PDF'],
      ['application/octet-stream', 'a'],
    ] as const)
      expect(await read(pdf, mime, name)).toEqual({
        title: 'About copper',
        mime: 'application/pdf',
        notices: [],
        text: '# Copper (Cu)\n\nCopper conducts electricity better than iron.\n\n## Uses\n\nWires and pipes are made of it.\n\nThe end of the third page.',
      });
    expect(
      (await read(tinyPdf([[{ size: 20, text: 'Heading' }, { text: 'A body that is longer than it.' }]]), 'application/pdf', 'a.pdf'))
        .title,
    ).toBe('Heading');
  });

  it('fails with a clear code when it is broken, protected, without text or too long', async () => {
    const good = tinyPdf([[{ text: 'One page of text.' }]]);
    for (const broken of [good.subarray(0, 60), Buffer.from('%PDF-1.7\nnonsense'), Buffer.from('no pdf at all')])
      expect(await failureOf(read(broken, 'application/pdf', 'a.pdf'))).toMatchObject({
        code: 'DOCUMENT_UNREADABLE',
        message: expect.stringContaining('broken'),
      });
    const key = '<'.concat('00'.repeat(32), '>');
    const locked = pdfOf(
      [
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Kids [] /Count 0 >>',
        `<< /Filter /Standard /V 1 /R 2 /O ${key} /U ${key} /P -4 >>`,
      ],
      `/Root 1 0 R /Encrypt 3 0 R /ID [${key} ${key}]`,
    );
    expect((await failureOf(read(locked, 'application/pdf', 'a.pdf'))).message).toContain('password');
    expect((await failureOf(read(tinyPdf([[]]), 'application/pdf', 'a.pdf'))).message).toContain('no text');
    const long = tinyPdf(Array.from({ length: 12 }, (_, n) => [{ text: `Page ${n}` }]));
    expect(await failureOf(read(long, 'application/pdf', 'a.pdf', open({ maxPages: 10 })))).toMatchObject({
      code: 'DOCUMENT_TOO_LARGE',
      message: expect.stringContaining('12 pages'),
    });
  });

  it('survives a wrong table of objects', async () => {
    const pdf = tinyPdf([[{ text: 'Found without its table.' }]])
      .toString('latin1')
      .replace(/startxref\n\d+/, 'startxref\n7');
    expect((await read(Buffer.from(pdf, 'latin1'), 'application/pdf', 'a.pdf')).text).toBe('Found without its table.');
  });

  it('is abandoned when it unpacks to too many bytes', async () => {
    // The same packed megabyte 250 times: blocks after a full flush are independent.
    const megabyte = deflateRawSync(Buffer.alloc(1024 * 1024, ' '), { finishFlush: constants.Z_FULL_FLUSH });
    const packed = Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array.from({ length: 250 }, () => megabyte), Buffer.from([3, 0])]);
    const bomb = pdfOf(
      [
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
        Buffer.concat([Buffer.from(`<< /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`), packed, Buffer.from('\nendstream')]),
      ],
      '/Root 1 0 R',
    );
    const before = process.memoryUsage.rss();
    const failure = await failureOf(read(bomb, 'application/pdf', 'a.pdf', open({ timeoutMs: 15_000, growthMb: 100 })));
    expect(failure).toMatchObject({ code: 'DOCUMENT_TOO_LARGE', message: expect.stringContaining('memory') });
    expect(process.memoryUsage.rss() - before).toBeLessThan(600 * 1024 * 1024);
  }, 20_000);
});

describe('the reader', () => {
  it('refuses a document that is too large, empty or of another type than declared', async () => {
    const small = open({ maxBytes: 100, maxCharacters: 50 });
    expect((await failureOf(read('x'.repeat(101), 'text/plain', 'x.txt', small))).code).toBe('DOCUMENT_TOO_LARGE');
    expect((await failureOf(read('x'.repeat(51), 'text/plain', 'x.txt', small))).code).toBe('DOCUMENT_TOO_LARGE');
    expect((await failureOf(read('', 'text/plain', 'x.txt'))).message).toContain('empty');
    expect((await failureOf(read(Buffer.from([0x89, 0x50, 0, 1, 2]), 'text/plain', 'x.txt'))).message).toContain('It is not text');
    expect((await failureOf(read('x', 'application/zip', 'x.zip'))).code).toBe('DOCUMENT_UNSUPPORTED');
    expect((await read(tinyPdf([[{ text: 'A PDF all the same.' }]]), 'text/html', 'x.html')).mime).toBe('application/pdf');
  });

  it.each([
    ['guide.rst', ''],
    ['guide.rst', 'text/x-rst'],
    ['notes.org', 'application/octet-stream'],
    ['manual.adoc', ''],
    ['pump.py', 'text/x-python'],
    ['pump.ts', 'video/mp2t'],
    ['pump.go', ''],
    ['film.srt', 'application/x-subrip'],
    ['paper.tex', 'text/x-tex'],
  ])('reads %s of the media type "%s" as text', async (name, mime) => {
    expect((await read('Grüße', mime, name)).text).toBe('Grüße');
  });

  it('ends the process of a document that takes too long, and reads the next one', async () => {
    const reader = open({ timeoutMs: 1 });
    const slow = `<html><body>${'<p class="a"><i>words, and more words</i></p>'.repeat(15_000)}</body></html>`;
    expect(await failureOf(read(slow, 'text/html', 'x.html', reader))).toMatchObject({
      code: 'DOCUMENT_UNREADABLE',
      message: expect.stringContaining('longer than 1 ms'),
    });
    const patient = open({ timeoutMs: 5_000 });
    const leaving = new AbortController();
    const left = failureOf(patient.read({ bytes: Buffer.from(slow), mime: 'text/html', name: 'x.html', signal: leaving.signal }));
    const queued = read('next', 'text/plain', 'x.txt', patient);
    leaving.abort();
    expect((await left).code).toBe('CALL_CANCELLED');
    expect((await queued).text).toBe('next');
  });

  it('reads nothing after close', async () => {
    const reader = open();
    const waiting = failureOf(read(`<p>${'word '.repeat(500_000)}`, 'text/html', 'x.html', reader));
    await reader.close();
    expect((await waiting).code).toBe('SHUTTING_DOWN');
    expect((await failureOf(read('x', 'text/plain', 'x.txt', reader))).code).toBe('SHUTTING_DOWN');
  });
});
