import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { tinyPdf } from './__fixtures__/tiny-pdf.js';
import { ReadingProcesses, type ReadingJob, type ReadingProcessesOptions } from './reading-processes.js';

const opened: ReadingProcesses[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((processes) => processes.close()));
});
const open = (options: ReadingProcessesOptions = {}): ReadingProcesses => {
  const processes = new ReadingProcesses({ processes: 1, ...options });
  opened.push(processes);
  return processes;
};
const { signal } = new AbortController();
const job = (content: string | Uint8Array, more: Partial<ReadingJob> = {}): ReadingJob => ({
  kind: 'html',
  bytes: typeof content === 'string' ? Buffer.from(content) : content,
  charset: null,
  limit: 100_000,
  pages: 10,
  strict: false,
  extract: 'whole',
  markdown: false,
  ...more,
});

describe('the processes that read', () => {
  it('are no more than allowed, and end when idle', async () => {
    const processes = open({ processes: 2, idleMs: 30 });
    const texts = Array.from({ length: 12 }, (_, n) => `<p>document ${n}</p>`);
    const reading = Promise.all(texts.map((text) => processes.read(job(text), signal)));
    expect(processes.size).toBe(2);
    expect((await reading).map((read) => ('text' in read ? read.text : read))).toEqual(texts.map((_text, n) => `document ${n}`));
    await until('the end of the processes', () => processes.size === 0);
    expect(await processes.read(job('<p>again</p>'), signal)).toMatchObject({ text: 'again' });
  });

  it('end individually when a document needs more memory than allowed', async () => {
    const processes = open({ heapMb: 24 });
    const wide = '<p class="a" id="b" title="c">some <i>text</i></p>'.repeat(12_000);
    expect(await processes.read(job(wide), signal)).toMatchObject({ failed: 'unreadable', message: expect.stringContaining('memory') });
    expect(await processes.read(job('<p>next</p>'), signal)).toMatchObject({ text: 'next' });
  });

  it('end alone when one allocation exhausts the heap, which ends a whole process', async () => {
    const processes = open({ processes: 2, heapMb: 24 });
    const euros = '€ '.repeat(8 * 1024 * 1024);
    const relation = '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="word/document.xml"/></Relationships>';
    const bomb = zipSync(
      {
        '_rels/.rels': strToU8(relation),
        'word/document.xml': strToU8(`<w:document><w:p><w:r><w:t>${euros}</w:t></w:r></w:p></w:document>`),
      },
      { level: 1 },
    );
    expect(bomb.length).toBeLessThan(1_000_000);
    const reading = processes.read(job(bomb, { kind: 'docx' }), signal);
    expect(await processes.read(job('<p>beside</p>'), signal)).toMatchObject({ text: 'beside' });
    expect(await reading).toEqual({
      failed: expect.stringMatching(/^(?:unreadable|too_large)$/),
      message: 'It needs more memory than allowed.',
    });
    expect(await processes.read(job('<p>next</p>'), signal)).toMatchObject({ text: 'next' });
  }, 60_000);

  it('survive signals to their group, which are for the process that serves', async () => {
    const processes = open();
    expect(await processes.read(job('<p>first</p>'), signal)).toMatchObject({ text: 'first' });
    const wide = '<p class="a">some <i>text</i></p>'.repeat(15_000);
    const reading = processes.read(job(wide), signal);
    for (const pid of processes.pids) for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, name);
    expect(await reading).toMatchObject({ text: expect.stringMatching(/^some text/) });
  });

  it('that cannot be started are reported, and not waited for at the end', async () => {
    const processes = open({ program: '/nowhere/node' });
    expect(await processes.read(job('<p>first</p>'), signal)).toMatchObject({
      failed: 'unreadable',
      message: expect.stringContaining('interrupted'),
    });
    expect(processes.size).toBe(0);
    await processes.close();
  });

  it.each([
    ['`<` that open no tag', '<'.repeat(2_000_000)],
    ['tags that nothing closes', `${'<a>'.repeat(400_000)}${'</b>'.repeat(400_000)}`],
    ['references', '&amp;'.repeat(500_000)],
    ['attributes', `<a ${Array.from({ length: 200_000 }, (_, n) => `a${n}`).join(' ')}>`],
  ])('read any number of %s in linear time, without a tree', async (_what, markup) => {
    const read = await open({ timeoutMs: 8_000 }).read(job(`<p>start</p>${markup}`, { extract: 'plain' }), signal);
    expect(read).toMatchObject({ text: expect.stringMatching(/^start/) });
  });

  it('read a style sheet of opening brackets in bounded time', async () => {
    const page = `<style>.a{display:none}${'/*'.repeat(90_000)}</style><p class="a">no</p><p>start</p>`;
    expect(await open({ timeoutMs: 4_000 }).read(job(page), signal)).toMatchObject({ text: 'start' });
  });

  it('return an outcome for any bytes', async () => {
    const processes = open();
    const pdf = tinyPdf([[{ size: 20, text: 'Heading' }, { text: 'A line of text.' }]]);
    const mutated = fc.array(fc.tuple(fc.nat(pdf.length - 1), fc.nat(255)), { minLength: 1, maxLength: 30 }).map((changes) => {
      const bytes = Buffer.from(pdf);
      for (const [place, value] of changes) bytes[place] = value;
      return job(bytes, { kind: 'pdf' });
    });
    const markup = fc
      .array(
        fc.constantFrom(
          '<p',
          '>',
          '</',
          '<!--',
          '-->',
          '<style>',
          '}',
          '{',
          '"',
          "'",
          '=',
          '&#',
          'x;',
          'hidden',
          '<table>',
          '<li>',
          '<svg>',
          'text',
          '\0',
          '<![CDATA[',
          ']]>',
          '<?',
        ),
      )
      .map((parts) => job(parts.join(''), { extract: parts.length % 2 ? 'whole' : 'readable' }));
    const bytes = fc.uint8Array({ maxLength: 400 }).map((content) => job(content, { kind: content.length % 2 ? 'html' : 'text' }));
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated, markup, bytes), async (one) => {
        const read = await processes.read(one, signal);
        expect('failed' in read ? read.message : read.text).toEqual(expect.any(String));
        if ('failed' in read) expect(read.message).not.toMatch(/longer than|broken off/);
      }),
      { numRuns: 80 },
    );
    expect(processes.size).toBe(1);
  }, 20_000);
});
