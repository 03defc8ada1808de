import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { noUsage, promptMarks } from '@conclave/contracts';
import { HeardReply } from './heard-reply.js';
import { WithoutCopies, withoutCopies } from './prompt-copy.js';

const facts = ['[1] The mill was built in 1912. — The mill', '[2] Its owner was Ada Pell. — Owners'];
const block = [promptMarks.evidence, promptMarks.data.open, ...facts, promptMarks.data.close].join('\n');
const prompt = `QUESTION: When was the mill built?\n\n${block}\n`;
const answer = 'It was built in 1912 [1].\n';
const without = (reply: string) => withoutCopies(reply, () => prompt);

describe('a reply', () => {
  it.each([
    ['ends before a copy of the evidence', `${answer}\n${block}\n`, `${answer}\n`],
    ['ends before a copy that was cut off', `${answer}\n${block.slice(0, -20)}`, `${answer}\n`],
    [
      'goes on behind a copy',
      `${answer}**EVIDENCE:**\n\n${facts[0]}\nFINDING: 1912\nCONFIDENCE: 0.8`,
      `${answer}FINDING: 1912\nCONFIDENCE: 0.8`,
    ],
    ['keeps a copy if it is nothing else', block, block],
    [
      'keeps such a heading with its own text',
      `${answer}EVIDENCE:\nThe first document says so.\n`,
      `${answer}EVIDENCE:\nThe first document says so.\n`,
    ],
    ['keeps a heading without anything behind it', `${answer}FACTS:\n`, `${answer}FACTS:\n`],
    ['keeps quoted lines without a heading', `${answer}${facts.join('\n')}\n`, `${answer}${facts.join('\n')}\n`],
    ['keeps a heading with text on its line', `${answer}EVIDENCE: ${facts[0]}\n`, `${answer}EVIDENCE: ${facts[0]}\n`],
  ])('%s', (_what, reply, heard) => expect(without(reply)).toBe(heard));

  it('is heard in the same way in any pieces', () => {
    const lines = [
      'EVIDENCE:',
      'FACTS:',
      '**RESULTS:**',
      '<<<DATA',
      ...facts,
      facts[0]!.slice(0, 20),
      'It was 1912 [1].',
      'EVID',
      '',
      '1.',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...lines), { maxLength: 12 }), fc.array(fc.nat(300)), (chosen, cuts) => {
        const reply = chosen.join('\n');
        const copies = new WithoutCopies(() => prompt);
        const ends = [...new Set([0, ...cuts.filter((at) => at < reply.length), reply.length])].sort((a, b) => a - b);
        const passed = ends.slice(1).map((end, index) => copies.push(reply.slice(ends[index], end)));
        const heard = [...passed, copies.end()].join('');
        expect([heard, copies.removed]).toEqual([without(reply), reply.length - heard.length]);
      }),
    );
  });

  it('is not held back longer than a heading may come', () => {
    const copies = new WithoutCopies(() => prompt);
    const pieces = ['It is', ' so', '.\n', 'E', 'very', ' one\n', 'EVIDENCE', ' shows'];
    expect(pieces.map((piece) => copies.push(piece))).toEqual(['It is', ' so', '.\n', '', 'Every', ' one\n', '', 'EVIDENCE shows']);
  });

  it.each([
    ['blanks', ' '],
    ['blank lines behind a heading', '\n'],
  ])('passes %s without end, so that they are noticed as a repetition', (_what, blank) => {
    const heard = new HeardReply(10_000, 1_000, undefined, () => prompt);
    heard.push({ content: blank === ' ' ? 'So.\n' : 'So.\nFACTS:\n' });
    for (let n = 0; n < 4_000 && !heard.cut; n += 1) heard.push({ content: blank });
    expect(heard.cut).toBe('repetition');
  });

  it('is cut if its copy begins again and again', () => {
    const shown: string[] = [];
    const heard = new HeardReply(
      10_000,
      1_000,
      (text) => shown.push(text),
      () => prompt,
    );
    heard.push({ content: answer });
    for (let n = 0; n < 40 && !heard.cut; n += 1) heard.push({ content: `${block}\n` });
    expect([heard.cut, shown.join('')]).toEqual(['repetition', answer]);
    expect(heard.cutShort(noUsage, 1).content).toBe(answer);
  });
});
