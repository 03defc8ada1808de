import { describe, expect, it } from '@jest/globals';
import { citations } from './citations.js';
import { markdownBlocks, withoutSourceList } from './markdown-blocks.js';
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

  it('leave out the list of sources that the gateway adds', () => {
    expect(withoutSourceList('It is so [1].\n\nSources:\n[1] A book\n[2] Another')).toBe('It is so [1].');
    expect(withoutSourceList('So [1].\n\nSources:\n[1] A book\n\nNot found: b')).toBe('So [1].\n\nNot found: b');
    expect(withoutSourceList('是这样 [1]。\n\n来源：\n[1] 一本书')).toBe('是这样 [1]。');
    expect(withoutSourceList('It is so [1].\n\nAs follows:\nOne [1]')).toBe('It is so [1].\n\nAs follows:\nOne [1]');
    expect(withoutSourceList('Sources: many.')).toBe('Sources: many.');
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

  it('are reported missing for sentences without one, if that is enabled', () => {
    expect(read('It is so [1]. It is by the sea. And more [2].').match(/uncited/g)).toHaveLength(1);
    expect(read('It is so [1]. It is by the sea.', false)).not.toContain('uncited');
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
