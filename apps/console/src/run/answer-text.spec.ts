import { describe, expect, it } from '@jest/globals';
import { citations, type Tree } from './citations.js';
import { htmlAsText } from './html-as-text.js';
import { markdownBlocks, shownAnswer } from './markdown-blocks.js';
import { hideTex, shownTex, texOf } from './tex-marks.js';
import { texSpans } from './tex-spans.js';
import { wordDiff } from './word-diff.js';

describe('blocks of Markdown', () => {
  it('are split at blank lines outside fences, without splitting lists', () => {
    expect(markdownBlocks('One\ntwo.\n\n```\na\n\nb\n```\n\nThree.')).toEqual(['One\ntwo.\n', '```\na\n\nb\n```\n', 'Three.']);
    expect(markdownBlocks('- a\n\n- b\n\n  more\n\nEnd.')).toEqual(['- a\n\n- b\n\n  more\n', 'End.']);
  });

  it('stay the same, except for the last one, while a text grows', () => {
    const text = 'First.\n\nSecond.\n\n```js\nlet a;\n\nlet b;\n```\n\nThird with more.';
    const whole = markdownBlocks(text);
    for (let length = 1; length < text.length; length += 1) {
      const blocks = markdownBlocks(text.slice(0, length));
      expect(blocks.slice(0, -1)).toEqual(whole.slice(0, Math.max(0, blocks.length - 1)));
    }
  });

  it('are one block if the text defines an address or a footnote, which another block may use', () => {
    const text = 'See [the page][p] and more[^1].\n\nMore.\n\n[p]: https://example.org\n\n[^1]: A footnote.';
    expect(markdownBlocks(text)).toEqual([text]);
    expect(markdownBlocks('One.\n\n```\n[p]: https://example.org\n```')).toHaveLength(2);
  });

  it('leave out the list of sources that the gateway adds', () => {
    const withoutSources = (text: string): string => shownAnswer(text, null);
    expect(withoutSources('It is so [1].\n\nSources:\n[1] A book\n[2] Another')).toBe('It is so [1].');
    expect(withoutSources('So [1].\n\nSources:\n[1] A book\n\nNot found: b')).toBe('So [1].\n\nNot found: b');
    expect(withoutSources('是这样 [1]。\n\n来源：\n[1] 一本书')).toBe('是这样 [1]。');
    expect(withoutSources('It is so [1].\n\nAs follows:\nOne [1]')).toBe('It is so [1].\n\nAs follows:\nOne [1]');
    expect(withoutSources('Sources: many.')).toBe('Sources: many.');
  });

  it('leave out a paragraph that only repeats why the run ended', () => {
    const reason = 'The model server failed. It says: out of memory.';
    expect(shownAnswer(`Found:\n\n- a [1]\n\nWhy it stopped: ${reason}`, reason)).toBe('Found:\n\n- a [1]');
    expect(shownAnswer(`Gefunden.\n\nWarum Schluss war: ${reason}\n\nSources:\n[1] A`, reason)).toBe('Gefunden.');
    expect(shownAnswer(`The log has many lines, and among them is this one: ${reason}`, reason)).toContain(reason);
  });
});

describe('formulas', () => {
  const found = (text: string): readonly string[] => texSpans(text).map(({ start, end }) => text.slice(start, end));

  it.each<readonly [string, ...string[]]>([
    [
      'For \\( ax^2 + b \\) with $a \\neq 0$: \\[ D = b^2 \\] and $$\\int_0^1 x\\,dx$$',
      '\\( ax^2 + b \\)',
      '$a \\neq 0$',
      '\\[ D = b^2 \\]',
      '$$\\int_0^1 x\\,dx$$',
    ],
    ['$$\nx = 1\n$$', '$$\nx = 1\n$$'],
    ['Let $n$, $S_n$, $(a, b)$, $2n$, $65 + 44 = 109$ be.', '$n$', '$S_n$', '$(a, b)$', '$2n$', '$65 + 44 = 109$'],
    ['| $|x|$ | \\(y\\) |', '$|x|$', '\\(y\\)'],
    ['\\begin{align*} a &= b \\\\ c &= d \\end{align*}', '\\begin{align*} a &= b \\\\ c &= d \\end{align*}'],
    ['$\\text{Total} = \\$500$ and $\\{x | x > \\$0\\}$', '$\\text{Total} = \\$500$', '$\\{x | x > \\$0\\}$'],
    ['It costs $10, or $x + y$, then $2,000.', '$x + y$'],
  ])('of %j are found', (text, ...formulas) => {
    expect(found(text)).toEqual(formulas);
  });

  it.each([
    'It costs $5 in one shop and $10 in the other, from US$3.50 to $1,200 a year.',
    '$500 + $200 + $150 = $850, and $5-10 or $5–$10 or $5/$10; he paid $5, she paid 10$.',
    'Revenue: $5M to $10M; it is $5/kg or 3$/lb. A single $ sign, and $$.',
    'Use $HOME and $PATH, kill $$ and echo $$, `$x$`, ``a ` $y$``, $i++, "$a" and "$b".',
    '```sh\necho $x $y$\n```\n\n> ~~~\n> $x$\n> ~~~',
    'See \\[link\\](https://example.org), \\[1\\], \\[x\\], \\[citation needed\\], \\(see below\\), \\$x\\$.',
    'jQuery: $(".a").b($) and $.each($)',
    'One $x\n\ny$ two, \\( a\n\nb = c \\)',
  ])('are not found in %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  it('are looked for in linear time', () => {
    const parts = [
      '$a ',
      '\\( a ',
      '\\[ \\( $ $$ ` \\begin{align} ',
      '```\n',
      '\n >',
      '`'.repeat(9),
      '\\begin{align}\\begin{cases}',
      '$x y$',
    ];
    const spent = (text: string): number => {
      const started = performance.now();
      texSpans(text);
      return performance.now() - started;
    };
    for (const part of parts) expect([part, spent(part.repeat(Math.ceil(200_000 / part.length))) < 2_000]).toEqual([part, true]);
  });

  it('are hidden from Markdown, and shown again as an element, or as they were written where text is literal', () => {
    const hidden = hideTex('So $a_1 = b_1$.');
    expect(hidden).toMatch(/^So \P{ASCII}+\.$/u);
    const tree: Tree = {
      type: 'root',
      children: [
        { type: 'paragraph', children: [{ type: 'text', value: hidden }] },
        { type: 'code', value: hidden },
        { type: 'link', url: hidden, children: [] },
      ],
    };
    shownTex()(tree);
    expect(tree.children![0]!.children!.map(({ value, data, children }) => value ?? [data?.hName, children![0]!.value])).toEqual([
      'So ',
      ['span', '$a_1 = b_1$'],
      '.',
    ]);
    expect([tree.children![1]!.value, tree.children![2]!.url]).toEqual(['So $a_1 = b_1$.', 'So $a_1 = b_1$.']);
    expect(hideTex('It costs $5.')).toBe('It costs $5.');
  });

  it('lose the marks of a quotation and their delimiters', () => {
    const tree: Tree = { type: 'paragraph', children: [{ type: 'text', value: hideTex('> $$\n> x = 1\n> $$').slice(2) }] };
    shownTex()(tree);
    expect(tree.children![0]!.children![0]!.value).toBe('$$\n x = 1\n $$');
    expect([texOf('$x$'), texOf('\\[y\\]'), texOf('$$z$$')].map(({ tex, isDisplay }) => [tex, isDisplay])).toEqual([
      ['x', false],
      ['y', true],
      ['z', true],
    ]);
  });
});

describe('citations', () => {
  const paragraph = (value: string) => ({ type: 'root', children: [{ type: 'paragraph', children: [{ type: 'text', value }] }] });
  const read = (value: string, marksRest = true): string => {
    const tree = paragraph(value);
    citations({ numbers: new Set([1, 2]), marksRest })()(tree);
    return JSON.stringify(tree);
  };

  it('of known sources become links, and others remain text', () => {
    expect(read('So [1] and [9].', false)).toContain('"url":"#source-1"');
    expect(read('So [1] and [9].', false)).toContain('and [9].');
  });

  it('are links in a table too, and for a number whose address the model defines', () => {
    const cell: Tree = { type: 'tableCell', children: [{ type: 'text', value: 'So [1]' }] };
    const tree: Tree = {
      type: 'root',
      children: [
        { type: 'table', children: [{ type: 'tableRow', children: [cell] }] },
        { type: 'paragraph', children: [{ type: 'linkReference', label: '2', children: [{ type: 'text', value: '2' }] }] },
      ],
    };
    citations({ numbers: new Set([1, 2]), marksRest: true })()(tree);
    expect(JSON.stringify(tree)).toContain('"url":"#source-1"');
    expect(JSON.stringify(tree)).toContain('"url":"#source-2"');
  });

  it('are reported missing for sentences without one, if that is enabled', () => {
    expect(read('It is so [1]. It is by the sea. And more [2].').match(/uncited/g)).toHaveLength(1);
    expect(read('It is so [1]. It is by the sea.', false)).not.toContain('uncited');
  });
});

describe('HTML of a model', () => {
  const html = (value: string): Tree => ({ type: 'html', value });
  const shown = (...children: Tree[]): unknown => {
    const tree: Tree = { type: 'root', children };
    htmlAsText()(tree);
    return tree.children;
  };
  const paragraph = (...children: Tree[]): Tree => ({ type: 'paragraph', children });
  const text = (value: string): Tree => ({ type: 'text', value });

  it('breaks the line at <br>, and is text where HTML knows no such tag', () => {
    expect(shown(paragraph(text('Array'), html('<string>'), html('<br/>'), html('<b>'), text('bold'), html('</b>')))).toEqual([
      paragraph(text('Array'), text('<string>'), { type: 'break' }, text('bold')),
    ]);
  });

  it('as a block keeps what its tags surround', () => {
    expect(shown(html('<details open>\n<summary>More</summary>\nHidden.\n</details>'), html('<!-- a note -->'), html('<div>'))).toEqual([
      paragraph(text(expect.stringMatching(/^More\s+Hidden\.$/) as unknown as string)),
    ]);
    expect(shown(html('<think>\nWell.\n</think>'))).toEqual([paragraph(text('<think>\nWell.\n</think>'))]);
  });
});

it('two questions are compared word by word', () => {
  expect(wordDiff('Who built the Gull Bridge?', 'Who built the old Bridge?')).toEqual([
    { kind: 'same', text: 'Who built the' },
    { kind: 'gone', text: 'Gull' },
    { kind: 'new', text: 'old' },
    { kind: 'same', text: 'Bridge?' },
  ]);
});
