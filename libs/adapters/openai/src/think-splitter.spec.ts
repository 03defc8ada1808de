import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { takeUnopenedThinking, ThinkSplitter } from './think-splitter.js';

/** Text of each kind when the text arrives in these chunks. */
function split(chunks: readonly string[], unopened = false): { content: string; reasoning: string } {
  const splitter = new ThinkSplitter(unopened);
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
    ['<thinking>\na\n</thinking>\n\nb', 'b', '\na\n'],
    ['<Thought>a</thought>b', 'b', 'a'],
    ['<reasoning>a</reasoning>b', 'b', 'a'],
    ['[THINK]a[/THINK]b', 'b', 'a'],
    ['<seed:think>a</seed:think>b', 'b', 'a'],
    ['◁think▷a◁/think▷b', 'b', 'a'],
    ['<|channel>thought\na<channel|>b', 'b', '\na'],
    ['<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>', 'b', 'a'],
    ['<|channel|>final<|message|>b', 'b', ''],
    ['In HTML, <thinking> is no element', 'In HTML, <thinking> is no element', ''],
    ['İ<think>a</think>b', 'İb', 'a'],
    ['the answer<|im_end|>\n', 'the answer', ''],
    ['the answer<｜end▁of▁sentence｜>', 'the answer', ''],
    ['the answer<|eom_id|>', 'the answer', ''],
    ['a turn ends with <|im_end|> there', 'a turn ends with <|im_end|> there', ''],
    ['a <', 'a <', ''],
    ['', '', ''],
  ])('separates %j', (text, content, reasoning) => expect(split([text])).toEqual({ content, reasoning }));

  it('returns the same result wherever the chunks are cut', () => {
    const part = fc.constantFrom(
      ...['<think>', '</think>', '<', '</', 'thi', 'nk>', ' ', '\n', 'word', '>'],
      ...[
        '<thinking>',
        '</thinking>',
        '[THINK]',
        '[/THINK]',
        '<|channel|>',
        'analysis',
        'final',
        '<|message|>',
        '<|end|>',
        '<|start|>assistant',
      ],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (parts, at, unopened) => {
        const text = parts.join('');
        expect(split(cut(text, at), unopened)).toEqual(split([text], unopened));
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
  it.each([
    ['hm</think>\n\nyes', 'yes', 'hm'],
    ['<think>hm</think>yes', 'yes', 'hm'],
    ['[THINK]hm[/THINK]yes', 'yes', 'hm'],
    ['an answer without thinking<|im_end|>', 'an answer without thinking', ''],
  ])('is separated from the start where it is expected: %j', (text, content, reasoning) =>
    expect(split([text], true)).toEqual({ content, reasoning }),
  );
  it('is held until its end where it is expected', () => {
    const splitter = new ThinkSplitter(true);
    expect(splitter.push('step one')).toEqual([]);
    expect(splitter.push('</think>yes')).toEqual([
      { kind: 'reasoning', text: 'step one' },
      { kind: 'content', text: 'yes' },
    ]);
    expect([splitter.closedUnopened, new ThinkSplitter(true).closedUnopened]).toEqual([true, false]);
  });
  it.each([
    ['words without an end', 'so it goes on '],
    ['blanks', ' \n\t'],
    ['an opening tag in the answer', '<think>'],
  ])('is read in time proportional to its length, in small chunks: %s', (_what, part) => {
    const before = process.cpuUsage();
    for (const unopened of [true, false]) {
      const splitter = new ThinkSplitter(unopened);
      for (let at = 0; at < 400_000; at += part.length) splitter.push(part);
      splitter.end();
    }
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  it('is not assumed in text that opens its tag', () =>
    expect(takeUnopenedThinking('`<think>` and `</think>`')).toEqual({ content: '`<think>` and `</think>`', reasoning: '' }));
});
