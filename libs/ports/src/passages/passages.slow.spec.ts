import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type TextPassage, passagesOf, type PassageOptions } from './passages.js';

const sentence = (n: number): string => `Sentence ${n} tells about harbours and the ice in them.`;
const prose = (sentences: number): string => Array.from({ length: sentences }, (_, n) => sentence(n)).join(' ');
const all = (text: string, options: PassageOptions = {}): readonly TextPassage[] => [...passagesOf(text, options)];
const texts = (text: string, options: PassageOptions = {}): readonly string[] => all(text, options).map((passage) => passage.text);
const withHeadings = (text: string, options: PassageOptions = {}) => all(text, options).map((passage) => [passage.headings, passage.text]);

describe('a passage', () => {
  it('is the whole text when that is short', () => {
    expect(all('  One line.\n\nAnother.  ')).toEqual([{ headings: [], text: 'One line.\n\nAnother.' }]);
    expect(all(' \n\t ')).toEqual([]);
    expect(all('')).toEqual([]);
  });

  it('knows the headings above it, and ends with its section', () => {
    const text = `# Harbours\nIntro.\n## Ice\nIt freezes.\n### Thickness\nA metre.\n## C#\nThey wait.\n`;
    expect(withHeadings(text)).toEqual([
      [['Harbours'], 'Intro.'],
      [['Harbours', 'Ice'], 'It freezes.'],
      [['Harbours', 'Ice', 'Thickness'], 'A metre.'],
      [['Harbours', 'C#'], 'They wait.'],
    ]);
  });

  it('reads underlined headings, but not a line below a list', () => {
    const text = 'Harbours\r\n========\r\n\r\nIce\r\n---\r\nIt freezes.\r\n\r\nA list\r\n- one\r\n- two\r\n\r\n---\r\n';
    expect(withHeadings(text)).toEqual([[['Harbours', 'Ice'], 'It freezes.\n\nA list\n- one\n- two\n\n---']]);
  });

  it('consists of headings that have no text, below the one above them', () => {
    expect(withHeadings('# Agenda\n## Budget\n## Hiring\n# Notes\nNone.\n## Open\n')).toEqual([
      [['Agenda'], 'Budget\nHiring'],
      [['Notes'], 'None.'],
      [['Notes'], 'Open'],
    ]);
    expect(withHeadings('# Only a title')).toEqual([[[], 'Only a title']]);
  });

  it.each([
    ['guide.rst', '=====\nGuide\n=====\n\nIntro\n=====\n\nA word.\n\nLines\n-----\n\nTwo.\n\n.. note::\n   Never one.\n'],
    ['guide.adoc', '= Guide\n\n== Intro\n\nA word.\n\n=== Lines\n\nTwo.\n\n.. note::\n   Never one.\n'],
    ['guide.org', '* Guide\n** Intro\nA word.\n*** Lines\nTwo.\n\n.. note::\n   Never one.\n'],
  ])('knows the headings of %s', (name, text) => {
    expect(withHeadings(text, { name })).toEqual([
      [['Guide', 'Intro'], 'A word.'],
      [['Guide', 'Intro', 'Lines'], 'Two.\n\n.. note::\n   Never one.'],
    ]);
  });

  it('does not mistake a line of code for a heading', () => {
    const text = '# Use\n```sh\n# a remark\n\n~~~\n## another\n```\n## Next\ntext\n';
    expect(all(text).map(({ headings }) => headings)).toEqual([['Use'], ['Use', 'Next']]);
    expect(all('```\n# never closed\n\n# at all')).toHaveLength(1);
  });

  it('ends with a sentence and repeats whole sentences of the one before', () => {
    const parts = texts(prose(60));
    expect(parts.length).toBeGreaterThan(3);
    for (const [n, text] of parts.entries()) {
      expect(text).toMatch(/^Sentence \d+ tells .*them\.$/);
      if (n > 0) expect(parts[n - 1]!.endsWith(/^[^.]*\./.exec(text)![0])).toBe(true);
    }
    expect(texts(prose(60), { overlap: 0 }).join(' ')).toBe(prose(60));
    expect(texts(`# A\n${sentence(1)}\n# B\n${sentence(2)}`)).toEqual([sentence(1), sentence(2)]);
  });

  it('does not end with the beginning of a long paragraph, nor between the lines of a sentence', () => {
    const wrapped = prose(20).replace(/ ice /g, '\nice ');
    const [first, ...others] = texts(`${prose(5)}\n\n${wrapped}`, { overlap: 0 });
    expect(first).toBe(prose(5));
    for (const part of others) expect(part).toMatch(/^Sentence[^]*them\.$/);
  });

  it('begins with the sentence that announces its list, and with whole items', () => {
    const item = (n: number): string => `- item ${n} weighs a ton. It is red.`;
    const list = (items: number): string => Array.from({ length: items }, (_, n) => item(n)).join('\n');
    expect(texts(`${prose(10)}\n\nThe differences are:\n\n${list(6)}`)).toEqual([prose(10), `The differences are:\n\n${list(6)}`]);
    const long = texts(`The differences are:\n\n${list(40)}`);
    expect(long[0]).toMatch(/^The differences are:\n\n- item 0 /);
    for (const part of long.slice(1)) expect(part).toMatch(/^- item[^]*red\.$/);
  });

  it('contains a block of code whole if that fits, and cuts a longer one between its blank lines', () => {
    const code = (lines: number): string => Array.from({ length: lines }, (_, n) => `const a${n} = 'one. two';`).join('\n');
    const short = `\`\`\`\n${code(10)}\n\n${code(8)}\n\`\`\``;
    expect(texts(`${prose(8)}\n\n${short}\n\n${prose(3)}`, { overlap: 0 })[1]).toMatch(/^```\n[^]*\n```/);
    const parts = texts(`\`\`\`\n${code(15)}\n\n${code(16)}\n\`\`\``);
    expect(parts).toEqual([`\`\`\`\n${code(15)}`, `${code(16)}\n\`\`\``]);
  });

  it('splits no character, whatever its parts', () => {
    const family = '👩‍👩‍👧‍👦';
    for (const unit of ['😀', family, 'e\u0301', 'नि', '🇩🇪']) {
      const text = unit.repeat(2_000);
      const parts = texts(text, { size: 100, overlap: 20 });
      expect(parts.join('')).toBe(text);
      for (const part of parts) expect(part).not.toMatch(/^(?:[\udc00-\udfff]|\u200d|\u0301)|(?:[\ud800-\udbff]|\u200d)$/);
    }
  });

  it('reads a hostile heading as text, and limits an endless run of marks', () => {
    for (const { headings, text } of all(`# ${'😀'.repeat(400)}\ntext`)) expect([headings, text.length <= 600]).toEqual([[], true]);
    expect(Math.max(...texts(`a${'\u0301'.repeat(10_000)}`).map(({ length }) => length))).toBeLessThanOrEqual(600);
  });

  it('is made from megabytes in reasonable time', () => {
    const before = process.cpuUsage();
    const text = `${'# h\n\n'.repeat(1_000)}${prose(10_000)}\n\n${'x'.repeat(500_000)}\n${'word '.repeat(200_000)}${'\n#\n`\n~~~\n'.repeat(20_000)}`;
    expect(all(text).length).toBeGreaterThan(2_000);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3_000);
  });
});

describe('a passage of a table', () => {
  const rows = (count: number, row: (n: number) => string): string => Array.from({ length: count }, (_, n) => row(n)).join('\n');

  it.each([
    ['Markdown', '', '| part | 2026 |\n|---|---|\n', '| part | 2026 |', rows(60, (n) => `| seal ${n} | ${n}. Yes. |`)],
    ['documents and sheets', '', 'part | quantity\n', 'part | quantity', rows(60, (n) => `seal ${n} | ${n}. Yes.`)],
    ['CSV', 'stock.csv', 'part;quantity\n', 'part;quantity', rows(60, (n) => `seal ${n};${n}. Yes.`)],
    ['TSV', 'stock.tsv', 'part\tquantity\n', 'part\tquantity', rows(60, (n) => `seal ${n}\t${n}. Yes.`)],
  ])('of %s repeats the head and contains whole rows', (_what, name, above, head, below) => {
    const parts = texts(above + below, { name });
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(600);
      expect(part.split('\n')[0]).toBe(head);
      expect(
        part
          .split('\n')
          .slice(1)
          .every((row) => row === '|---|---|' || below.split('\n').includes(row)),
      ).toBe(true);
    }
    expect(parts.flatMap((part) => part.split('\n')).filter((row) => row.includes('seal'))).toEqual(below.split('\n'));
  });

  it('is read as values by its media type, and keeps a row with line breaks whole', () => {
    const parts = texts(`part,remark\n${rows(40, (n) => `seal ${n},"first\n\nsecond"`)}`, { mime: 'text/csv' });
    for (const part of parts) expect(part).toMatch(/^part,remark\nseal[^]*second"$/);
  });

  it('repeats no row of values as a head, and no head that is very long', () => {
    const values = rows(60, (n) => `seal ${n};${n}`);
    expect(texts(values, { name: 'a.csv' }).join('\n')).toBe(values);
    const wide = `${rows(80, (n) => `column-${n}`).replaceAll('\n', ';')}\n${values}`;
    expect(texts(wide, { name: 'a.csv' }).filter((part) => part.includes('column-0'))).toHaveLength(1);
  });

  it('does not end with the head, which follows the sentence that announces it', () => {
    const parts = texts(
      `${prose(10)}\n\nThe prices:\n\n| part | price |\n|---|---|\n${rows(5, (n) => `| seal number ${n} of this year | ${n} |`)}\n\nAfter it.`,
    );
    expect(parts.at(-1)).toMatch(/^The prices:\n\n\| part \| price \|\n\|---\|---\|\n\| seal number 0 /);
    expect(parts.at(-2)).toBe(prose(10));
  });

  it('of reStructuredText contains no lines between its rows', () => {
    const border = '+------+-----+';
    const table = `${border}\n| part | no. |\n+======+=====+\n${rows(60, (n) => `| s${n} | ${n} |\n${border}`)}`;
    const parts = texts(table, { name: 'a.rst' });
    for (const part of parts.slice(1)) expect(part.split('\n').slice(0, 2)).toEqual(['| part | no. |', expect.stringMatching(/^\| s\d/)]);
  });
});

describe('a passage of source code', () => {
  const definition = (n: number): string =>
    `def step_${n}(pump):\n    """${'Starts it. '.repeat(16)}"""\n\n    # then\n    return pump.start(${n})`;

  it('has the path of its file as heading, and begins with a definition', () => {
    const source = `import os\n\n\n${[1, 2, 3, 4].map(definition).join('\n\n\n')}\n`;
    const passages = all(source, { name: 'src/pump.py' });
    expect(passages.map(({ headings }) => headings)).toEqual(passages.map(() => ['src/pump.py']));
    expect(passages[0]!.text).toBe(`import os\n\n${definition(1)}`);
    expect(passages.slice(1).map(({ text }) => text)).toEqual([definition(2), definition(3), definition(4)]);
  });

  it('is cut between lines, and has no headings of its own', () => {
    const lines = Array.from({ length: 60 }, (_, n) => `# step ${n}. Then the next.`);
    const parts = texts(lines.join('\n'), { name: 'a.sh' });
    expect(parts.flatMap((part) => part.split('\n'))).toEqual(lines);
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
      'a | b\n',
      '| c | d |\n',
      '- e\n',
      'f:\n',
      '. ',
      '\u2028',
      '\ufeff',
      '😀',
      '\ud800',
      'x'.repeat(90),
    ),
  );
  const text = fc.array(bit, { maxLength: 60 }).map((bits) => bits.join(''));
  const options = fc.record({
    size: fc.integer({ min: 40, max: 400 }),
    overlap: fc.integer({ min: 0, max: 100 }),
    name: fc.constantFrom('', 'a.csv', 'a.rst', 'a.org', 'a.adoc', 'a.py'),
  });
  const words = (of: string): readonly string[] => of.match(/[\p{L}\p{N}]/gu) ?? [];

  it('is completely contained in the passages and their headings, each within the limits', () => {
    fc.assert(
      fc.property(text, options, (source, bounds) => {
        const passages = all(source, bounds);
        for (const { text: part } of passages) expect([part.length <= bounds.size, part.trim().length > 0]).toEqual([true, true]);
        const kept = new Set(passages.flatMap(({ headings, text: part }) => [...words(headings.join(' ')), ...words(part)]));
        expect(words(source).filter((word) => !kept.has(word))).toEqual([]);
        expect(all(source, bounds)).toEqual(passages);
      }),
      { numRuns: 300 },
    );
  });

  it('of prose consists of passages that stay whole when they are cut again', () => {
    fc.assert(
      fc.property(fc.lorem({ maxCount: 60, mode: 'sentences' }), options, (source, bounds) => {
        for (const part of texts(source, { ...bounds, name: '' })) expect(texts(part, { ...bounds, name: '' })).toEqual([part]);
      }),
      { numRuns: 100 },
    );
  });
});
