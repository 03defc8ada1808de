import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isCitations, isReadable, Repetition } from './repetition.js';

const limit = 4_000;

/** What a stream of these chunks shows, and where it was stopped. */
function read(chunks: readonly string[], most = limit, isForm = false): { shown: string; found: number; keep: number; read: number } {
  const repetition = new Repetition(most, isForm);
  let shown = '';
  let taken = 0;
  for (const chunk of chunks) {
    shown += repetition.push(chunk);
    taken += chunk.length;
    if (repetition.found > 0) break;
  }
  return { shown: shown + repetition.end(), found: repetition.found, keep: repetition.keep, read: taken };
}
const cut = (text: string, size: number): string[] => text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
const lines = (count: number, line: (n: number) => string): string => Array.from({ length: count }, (_, n) => line(n)).join('\n');

const start = 'Rivers carry water to the sea. Two of them meet in the old town.\n';
const sentence = fc
  .array(fc.constantFrom('river', 'town', 'the', 'of', 'Meer', 'und', 'água', 'über', '水'), { minLength: 8, maxLength: 60 })
  .map((words) => `${words.join(' ')}. `)
  .filter((text) => new Set(text.split(/\W+/)).size > 3);
const loops: readonly (readonly [string, string])[] = [
  ['a sentence', 'The answer depends on the water of the river. '],
  ['a line', 'I am sorry, but I cannot say that.\n'],
  ['two words', 'over again '],
  ['a paragraph', `${'Let me think about the water once more, and then about the town. '.repeat(3)}Wait, no.\n\n`],
  [
    'a long paragraph',
    `${Array.from({ length: 60 }, (_, n) => `Step ${n} of the check looks at number ${n * 7}.`).join(' ')}\n`.slice(-1_900),
  ],
  ['Chinese', '我需要再想一想这个问题。'],
  ['white space', '\n'],
];

describe('a text that repeats itself without end', () => {
  it.each(loops)('is stopped soon: %s', (_name, unit) => {
    const text = start + unit.repeat(Math.ceil(60_000 / unit.length));
    const { shown, found, keep, read: taken } = read(cut(text, 7));
    expect(found).toBeGreaterThanOrEqual(limit);
    expect(taken).toBeLessThan(start.length + Math.max(limit, 6 * unit.length) + unit.length + 300);
    // Of what is repeated, the first occurrence is kept, and little more is shown.
    expect(keep).toBeLessThanOrEqual(start.length + unit.length);
    expect(keep).toBeGreaterThanOrEqual(unit.length);
    expect(text.startsWith(shown)).toBe(true);
    expect(shown.length).toBeLessThan(start.length + Math.max(limit, 6 * unit.length) / 8 + 2 * unit.length + 300);
  });

  it.each([
    ['zeros', '0, '],
    ['a ruler', '-'],
    ['one word', 'false, '],
  ])('is stopped later if it has no words: %s', (_name, unit) => {
    expect(read(cut(start + unit.repeat(20_000 / unit.length), 40)).found).toBe(0);
    expect(read(cut(start + unit.repeat(60_000 / unit.length), 40))).toMatchObject({ found: 8 * limit });
  });

  it('is stopped at the same place wherever it is cut, whatever came before', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 400 }),
        sentence,
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 6 }),
        (before, unit, sizes) => {
          const text = before + unit.repeat(Math.ceil(8_000 / unit.length));
          const parts: string[] = [];
          for (let at = 0, n = 0; at < text.length; at += sizes[n % sizes.length]!, n += 1)
            parts.push(text.slice(at, at + sizes[n % sizes.length]!));
          const { read: _, ...whole } = read([text]);
          const { read: __, ...cutUp } = read(parts);
          expect(cutUp).toEqual(whole);
          expect(whole.found).toBeGreaterThanOrEqual(limit);
          // What is kept is the text up to its first repetition, apart from what `before` shares with it.
          const kept = text.slice(0, whole.keep);
          expect(kept.length).toBeLessThanOrEqual(before.length + unit.length);
          expect(text.slice(whole.keep, whole.keep + unit.length)).toBe(text.slice(whole.keep - unit.length, whole.keep));
        },
      ),
      { numRuns: 150 },
    );
  });

  it.each([
    ['entries without words', '    "Data",\n'],
    ['objects of numbers', '{"task": "r1", "a": 0.5, "b": 0.5}, '],
  ])('is stopped sooner in JSON of a form: %s', (_what, entry) => {
    const text = `{"list": [\n${entry.repeat(3_000)}`;
    expect(read(cut(text, 7), limit, true).found).toBe(limit / 4);
    expect(read(cut(text, 7)).read).toBeGreaterThan(4 * read(cut(text, 7), limit, true).read - 500);
    expect(read(cut(`{"list": [${entry.repeat(20)}]}`, 7), limit, true).found).toBe(0);
  });

  it('is stopped where only the numbers of a list change, and its first items are kept', () => {
    const items = ['Use water: water saves energy at home.', 'Use **light**: light from the window is free.', 'Ask the town.'];
    const list = (n: number) => `${n + 1}. ${items[n % items.length]}\n`;
    const text = start + lines(600, list);
    const { found, keep, read: taken } = read(cut(text, 7));
    expect(found).toBeGreaterThanOrEqual(limit);
    expect(text.slice(0, keep)).toBe(`${start}${list(0)}\n${list(1)}\n${list(2)}`);
    expect(taken).toBeLessThan(start.length + limit * 1.5);
    expect(read([text])).toMatchObject({ found, keep });
    expect(read(cut(start + lines(60, list), 7)).found).toBe(0);
    expect(read(cut(start + lines(600, (n) => `${n}. Town ${n} lies at the river and has a bridge.`), 7)).found).toBe(0);
  });

  it('is never stopped without a limit', () =>
    expect(read([start + 'over and over again '.repeat(5_000)], 0)).toMatchObject({
      found: 0,
      shown: start + 'over and over again '.repeat(5_000),
    }));
});

describe('an ordinary text', () => {
  const random = (seed: number): (() => number) => {
    let state = seed;
    return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  };
  const next = random(7);
  const base64 = Array.from(
    { length: 12_000 },
    () => 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'[Math.floor(next() * 64)],
  ).join('');
  it.each<[string, string]>([
    ['a table', `| year | town | water |\n|---|---|---|\n${lines(800, (n) => `| ${1900 + n} | the old town | not measured |`)}`],
    ['a table without values', `| a | b |\n|---|---|\n${lines(900, () => '| n/a | n/a |')}`],
    ['a table of equal rows', lines(90, () => '| the old town | not measured | yes |')],
    [
      'JSON of similar rows',
      JSON.stringify(
        Array.from({ length: 900 }, (_, id) => ({ id, name: 'the same name', tags: ['one', 'two'], value: null })),
        null,
        2,
      ),
    ],
    [
      'JSON of equal rows',
      JSON.stringify(
        Array.from({ length: 500 }, () => ({ x: 0, y: 0, z: null })),
        null,
        1,
      ),
    ],
    ['a matrix of zeros', lines(80, () => `[${'0, '.repeat(79)}0],`)],
    ['a list of booleans', 'false, '.repeat(4_000)],
    ['code with a switch', lines(400, (n) => `    case ${n}:\n      handle(value, ${n % 3});\n      break;`)],
    ['code with closing tags', `${'<div class="row">'.repeat(200)}${'</div>\n'.repeat(200)}`],
    ['assembler', `${'    nop\n'.repeat(1_000)}    ret`],
    [
      'a poem',
      lines(
        40,
        (n) => `Verse ${n} goes to the sea\nand comes back to me.\n${'Row, row, row your boat, gently down the stream.\n'.repeat(4)}`,
      ),
    ],
    ['a song', 'Na na na, nananana, nananana, hey Jude.\n'.repeat(20)],
    ['a sentence written a hundred times', 'I will not talk in class.\n'.repeat(100)],
    ['base64', lines(150, (n) => base64.slice(n * 76, (n + 1) * 76))],
    ['base64 of nothing', lines(300, () => 'A'.repeat(76))],
    ['base64 of one colour', lines(300, () => 'gICA'.repeat(19))],
    ['a hex dump', lines(400, (n) => `${(n * 16).toString(16).padStart(8, '0')}  ${'00 '.repeat(16)} |................|`)],
    ['numbers', lines(3_000, (n) => `${n}. item ${n % 2}`)],
    ['a boundary and a drawing', `${'='.repeat(3_000)}\n${lines(100, () => `|${' '.repeat(78)}|`)}`],
    ['DNA', 'ACGT'.repeat(5_000)],
  ])('is shown whole: %s', (_name, text) => {
    expect(read(cut(text, 5))).toEqual({ shown: text, found: 0, keep: 0, read: text.length });
  });

  it('is shown as it comes, and whole at its end, whatever it repeats below the limit', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.tuple(fc.string({ minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 50 })).map(([unit, times]) => unit.repeat(times)),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.integer({ min: 3, max: 600 }), (parts, size) => {
        const text = parts.join('x');
        const repetition = new Repetition(30_000);
        let shown = '';
        let read = 0;
        for (const chunk of cut(text, size)) {
          shown += repetition.push(chunk);
          read += chunk.length;
          if (shown.length > read) throw new Error('More is shown than was read.');
        }
        expect(shown + repetition.end()).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  it('costs nearly nothing', () => {
    const words = Array.from({ length: 20_000 }, () => base64.slice(Math.floor(next() * 11_000)).slice(0, 1 + Math.floor(next() * 8))).join(
      ' ',
    );
    const chunks = cut(words, 4);
    const repetition = new Repetition(limit);
    const began = performance.now();
    for (const chunk of chunks) repetition.push(chunk);
    const micros = ((performance.now() - began) / chunks.length) * 1_000;
    expect(micros).toBeLessThan(20);
  });
});

describe('citations alone', () => {
  it.each(['[2] ', '] [2', '[12][3]\n', ' [1]'])('mean nothing when they are repeated: %j', (unit) => {
    expect(isCitations(unit)).toBe(true);
    expect(read(cut(`So it is ${unit.repeat(4_000)}`, 3)).found).toBe(limit);
  });
  it.each(['[0]\n', '[0, 0, 0], ', '0 0 0 ', '[x] ', '[[1, 2], [3, 4]] ', '- '])('are not: %j', (unit) =>
    expect(isCitations(unit)).toBe(false),
  );
});

describe('a unit', () => {
  it.each(['the answer is ', '我需要再想一想', 'Wait, no. ', '   \n'])('is readable: %j', (unit) => expect(isReadable(unit)).toBe(true));
  it.each(['0, 0, ', 'false, ', 'gICA', '-----', 'A'.repeat(76) + '\n', '{"x": 0, "y": 0},\n'])('is not: %j', (unit) =>
    expect(isReadable(unit)).toBe(false),
  );
});
