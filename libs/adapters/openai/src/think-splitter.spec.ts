import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { takeUnopenedThinking, ThinkSplitter } from './think-splitter.js';

/** Text of each kind when the text arrives in these chunks. */
function split(chunks: readonly string[]): { content: string; reasoning: string } {
  const splitter = new ThinkSplitter();
  const joined = { content: '', reasoning: '' };
  for (const piece of [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]) joined[piece.kind] += piece.text;
  return joined;
}
function cut(text: string, at: readonly number[]): string[] {
  const places = [0, ...[...new Set(at.map((n) => n % (text.length + 1)))].sort((a, b) => a - b), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

describe('the think splitter', () => {
  it.each([
    ['<think>a</think>b', 'b', 'a'],
    ['\n <think>\na\n</think>\n\nb c', 'b c', '\na\n'],
    ['<think>a</think><think>b</think>c', 'c', 'ab'],
    ['no tags', 'no tags', ''],
    ['  indented', '  indented', ''],
    ['a <think>b</think> c', 'a  c', 'b'],
    ['the tag `<think>` opens it', 'the tag `<think>` opens it', ''],
    ['<think>cut by the token limit', '', 'cut by the token limit'],
    ['<think>', '', ''],
    ['<thin', '<thin', ''],
    ['a < b and <b>', 'a < b and <b>', ''],
    ['<think>a</thi', '', 'a</thi'],
    ['', '', ''],
  ])('separates %j', (text, content, reasoning) => expect(split([text])).toEqual({ content, reasoning }));

  it('returns the same result wherever the chunks are cut', () => {
    const part = fc.constantFrom('<think>', '</think>', '<', '</', 'thi', 'nk>', ' ', '\n', 'word', '>');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 12 }), (parts, at) => {
        const text = parts.join('');
        expect(split(cut(text, at))).toEqual(split([text]));
      }),
      { numRuns: 2_000 },
    );
  });

  it('loses no text, whatever the model writes', () => {
    const part = fc.constantFrom('<think>', '</think>', '<thi', 'one', 'two', ' three ');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const { content, reasoning } = split(parts);
        for (const word of ['one', 'two', 'three'])
          expect(`${content}|${reasoning}`.split(word).length).toBe(parts.join('').split(word).length);
      }),
    );
  });

  it('passes leading thinking on as it comes', () => {
    const splitter = new ThinkSplitter();
    expect(splitter.push('<think>step')).toEqual([{ kind: 'reasoning', text: 'step' }]);
    expect(splitter.push(' one</th')).toEqual([{ kind: 'reasoning', text: ' one' }]);
    expect(splitter.push('ink>yes')).toEqual([{ kind: 'content', text: 'yes' }]);
  });
});

describe('thinking whose opening tag is part of the prompt', () => {
  it('is removed from the whole reply', () =>
    expect(takeUnopenedThinking('hm\n</think>\n\nyes')).toEqual({ content: 'yes', reasoning: 'hm' }));
  it('is not assumed in text that opens its tag', () =>
    expect(takeUnopenedThinking('`<think>` and `</think>`')).toEqual({ content: '`<think>` and `</think>`', reasoning: '' }));
});
