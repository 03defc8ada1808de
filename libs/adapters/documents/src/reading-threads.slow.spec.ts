import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import fc from 'fast-check';
import { tinyPdf } from './__fixtures__/tiny-pdf.js';
import { ReadingThreads, type ReadingJob, type ReadingThreadsOptions } from './reading-threads.js';

const opened: ReadingThreads[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((threads) => threads.close()));
});
const open = (options: ReadingThreadsOptions = {}): ReadingThreads => {
  const threads = new ReadingThreads({ threads: 1, ...options });
  opened.push(threads);
  return threads;
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

describe('the threads that read', () => {
  it('are no more than allowed, and end when idle', async () => {
    const threads = open({ threads: 2, idleMs: 30 });
    const texts = Array.from({ length: 12 }, (_, n) => `<p>document ${n}</p>`);
    const reading = Promise.all(texts.map((text) => threads.read(job(text), signal)));
    expect(threads.size).toBe(2);
    expect((await reading).map((read) => ('text' in read ? read.text : read))).toEqual(texts.map((_text, n) => `document ${n}`));
    await until('the end of the threads', () => threads.size === 0);
    expect(await threads.read(job('<p>again</p>'), signal)).toMatchObject({ text: 'again' });
  });

  it('end individually when a document needs more memory than allowed', async () => {
    const threads = open({ heapMb: 24 });
    const wide = '<p class="a" id="b" title="c">some <i>text</i></p>'.repeat(12_000);
    expect(await threads.read(job(wide), signal)).toMatchObject({ failed: 'unreadable', message: expect.stringContaining('memory') });
    expect(await threads.read(job('<p>next</p>'), signal)).toMatchObject({ text: 'next' });
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
    const threads = open();
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
        const read = await threads.read(one, signal);
        expect('failed' in read ? read.message : read.text).toEqual(expect.any(String));
        if ('failed' in read) expect(read.message).not.toMatch(/longer than|broken off/);
      }),
      { numRuns: 80 },
    );
    expect(threads.size).toBe(1);
  }, 20_000);
});
