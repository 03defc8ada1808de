import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chunksOf, textWithHeadings, type Chunk } from './chunks.js';

const sentence = (n: number): string => `Sentence ${n} tells about harbours and the ice in them.`;
const prose = (sentences: number): string => Array.from({ length: sentences }, (_, n) => sentence(n)).join(' ');

/** For each position of the text, whether a chunk covers it. */
const covered = (text: string, chunks: readonly Chunk[]): readonly boolean[] => {
  const seen = new Array<boolean>(text.length).fill(false);
  for (const { offset, text: part } of chunks) seen.fill(true, offset, offset + part.length);
  return seen;
};

describe('a chunk', () => {
  it('is the whole text when that is short', () => {
    expect(chunksOf('doc', '  One line.\n\nAnother.  ')).toEqual([{ id: 'doc#0', headings: [], text: 'One line.\n\nAnother.', offset: 2 }]);
    expect(chunksOf('doc', ' \n\t ')).toEqual([]);
    expect(chunksOf('doc', '')).toEqual([]);
  });

  it('knows the headings above it, and begins where a section does', () => {
    const text = `# Harbours\nIntro.\n## Ice\nIt freezes.\n### Thickness\nA metre.\n## Ships\nThey wait.\n`;
    expect(chunksOf('d', text).map(({ headings, text: part }) => [headings, part])).toEqual([
      [['Harbours'], '# Harbours\nIntro.'],
      [['Harbours', 'Ice'], '## Ice\nIt freezes.'],
      [['Harbours', 'Ice', 'Thickness'], '### Thickness\nA metre.'],
      [['Harbours', 'Ships'], '## Ships\nThey wait.'],
    ]);
  });

  it('reads underlined headings, and leaves a heading without text to the next section', () => {
    const text = 'Harbours\n========\n\nIce\n---\nIt freezes.\n\nA list\n- one\n- two\n\n---\n';
    expect(chunksOf('d', text).map(({ headings, text: part }) => [headings, part])).toEqual([
      [['Harbours', 'Ice'], 'Harbours\n========\n\nIce\n---\nIt freezes.\n\nA list\n- one\n- two\n\n---'],
    ]);
  });

  it('does not mistake a line of code for a heading', () => {
    const text = '# Use\n```sh\n# a remark\n\n~~~\n## another\n```\n## Next\ntext\n';
    expect(chunksOf('d', text).map(({ headings }) => headings)).toEqual([['Use'], ['Use', 'Next']]);
    expect(chunksOf('d', '```\n# never closed\n\n# at all')).toHaveLength(1);
  });

  it('ends with a sentence and repeats whole sentences of the one before', () => {
    const chunks = chunksOf('d', prose(60));
    expect(chunks.length).toBeGreaterThan(3);
    for (const [n, { text }] of chunks.entries()) {
      expect(text).toMatch(/^Sentence \d+ tells/);
      expect(text).toMatch(/them\.$/);
      if (n === 0) continue;
      const before = chunks[n - 1]!;
      const shared = before.offset + before.text.length - chunks[n]!.offset;
      expect(shared).toBeGreaterThan(0);
      expect(shared).toBeLessThanOrEqual(90);
    }
  });

  it('repeats nothing when no overlap is set, nor across headings', () => {
    expect(
      chunksOf('d', prose(60), { overlap: 0 })
        .map(({ text }) => text)
        .join(' '),
    ).toBe(prose(60));
    const [first, second] = chunksOf('d', `# A\n${sentence(1)}\n# B\n${sentence(2)}`);
    expect(second!.offset).toBeGreaterThan(first!.offset + first!.text.length);
  });

  it('is embedded together with the headings that it does not contain', () => {
    expect(textWithHeadings({ headings: ['Harbours', 'Ice'], text: '## Ice\nIt freezes.' })).toBe('Harbours\n## Ice\nIt freezes.');
    expect(textWithHeadings({ headings: ['A', 'B'], text: 'text' })).toBe('A / B\ntext');
    expect(textWithHeadings({ headings: [], text: 'text' })).toBe('text');
  });

  it('splits no character, whatever its parts', () => {
    const family = '👩‍👩‍👧‍👦';
    for (const unit of ['😀', family, 'e\u0301', 'नि', '🇩🇪']) {
      const text = unit.repeat(2_000);
      const whole = chunksOf('d', text, { size: 100, overlap: 20 });
      expect(whole.map((chunk) => chunk.text).join('')).toBe(text);
      for (const { text: part } of whole) expect(part).not.toMatch(/^(?:[\udc00-\udfff]|\u200d|\u0301)|(?:[\ud800-\udbff]|\u200d)$/);
    }
  });

  it('limits a hostile heading and an endless run of marks', () => {
    const [chunk] = chunksOf('d', `# ${'😀'.repeat(5_000)}\ntext`);
    expect(chunk!.headings[0]!.length).toBeLessThanOrEqual(200);
    expect(chunk!.headings[0]).not.toMatch(/[\ud800-\udbff]$/);
    const marks = chunksOf('d', `a${'\u0301'.repeat(10_000)}`);
    expect(Math.max(...marks.map(({ text }) => text.length))).toBeLessThanOrEqual(600);
  });

  it('is made from megabytes in reasonable time', () => {
    const before = process.cpuUsage();
    const text = `${'# h\n\n'.repeat(1_000)}${prose(10_000)}\n\n${'x'.repeat(500_000)}\n${'word '.repeat(200_000)}${'\n#\n`\n~~~\n'.repeat(20_000)}`;
    expect(chunksOf('d', text).length).toBeGreaterThan(2_000);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3_000);
  });
});

describe('any text', () => {
  const bit = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.lorem({ maxCount: 12, mode: 'sentences' }),
    fc.constantFrom(
      '\n',
      '\n\n',
      '\r\n',
      '# H\n',
      '## Two\n',
      '#\n',
      '```\n',
      '~~~\n',
      '===\n',
      '---\n',
      '. ',
      '\u2028',
      '\ufeff',
      '😀',
      '\ud800',
      'x'.repeat(90),
    ),
  );
  const text = fc.array(bit, { maxLength: 60 }).map((bits) => bits.join(''));
  const options = fc.record({ size: fc.integer({ min: 40, max: 400 }), overlap: fc.integer({ min: 0, max: 100 }) });

  it('is completely contained in the chunks, each within the limits, in order and unchanged', () => {
    fc.assert(
      fc.property(text, options, (source, { size, overlap }) => {
        const chunks = chunksOf('doc', source, { size, overlap });
        const seen = covered(source, chunks);
        for (let at = 0; at < source.length; at += 1) if (source[at]!.trim() !== '' && !seen[at]) throw new Error(`Lost at ${at}.`);
        const wrong = chunks.filter(({ id, offset, text: part }, n) => {
          const end = offset + part.length;
          const { offset: start = -1, text: before = '' } = chunks[n - 1] ?? {};
          const follows = n === 0 || (offset > start && end > start + before.length && start + before.length - offset <= overlap);
          const stands = part === source.slice(offset, end) && part === part.trim() && part.length > 0 && part.length <= size;
          return id !== `doc#${n}` || !follows || !stands;
        });
        expect(wrong).toEqual([]);
        expect(chunksOf('doc', source, { size, overlap })).toEqual(chunks);
      }),
      { numRuns: 200 },
    );
  });

  it('of prose consists of chunks that stay whole when they are cut again', () => {
    fc.assert(
      fc.property(fc.lorem({ maxCount: 60, mode: 'sentences' }), options, (source, bounds) => {
        for (const { text: part } of chunksOf('doc', source, bounds))
          expect(chunksOf('doc', part, bounds).map((again) => again.text)).toEqual([part]);
      }),
      { numRuns: 100 },
    );
  });
});
