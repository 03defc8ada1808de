import { describe, expect, it } from '@jest/globals';
import { promptMarks } from '@conclave/contracts';
import fc from 'fast-check';
import { QuoteFilter, withoutMarks } from './quoting-marks.js';

const { open, close } = promptMarks.data;
const label = 'general (confidence 0.6):';

describe('the marks of quoted data', () => {
  it.each([
    [`${open}\n${label} The sky is blue.\n${close}`, 'The sky is blue.\n'],
    [`${open} The sky is blue. ${close}`, 'The sky is blue. '],
    [`It is said:\n${open}\nBlue.\n${close}\nSo it is.`, 'It is said:\nBlue.\nSo it is.'],
    [`The sky is ${open}blue${close}.`, 'The sky is blue.'],
    [`${label} Blue.`, 'Blue.'],
    [`\`\`\`\n${open}\nx = 1\n${close}\n\`\`\``, '```\nx = 1\n```'],
    ['1 << 2 and DATA > 3', '1 << 2 and DATA > 3'],
    ['ends with <<<DA', 'ends with <<<DA'],
  ])('are taken out of %j', (text, shown) => {
    expect(withoutMarks(text, '', [label])).toBe(shown);
  });

  it.each([
    [`In PHP:\n\`\`\`php\n$x = ${open}\nhello\nDATA;\n\`\`\``, 'Show me a heredoc'],
    [`It says ${open}.`, `What does ${open} mean?`],
  ])('stay if they are code or the words of the user: %j', (text, own) => {
    expect(withoutMarks(text, own)).toBe(text);
  });

  it('never show, wherever the stream is cut, and the same text is left', () => {
    const piece = fc.oneof(
      fc.constantFrom(open, close, `${label} `, '\n', '<', '<<', 'DATA', '>>', ' ', 'general', 'blue', '🌊'),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(200), { maxLength: 15 }), (pieces, cuts) => {
        const whole = pieces.join('');
        fc.pre(!/```|~~~/.test(whole));
        const points = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const filter = new QuoteFilter('', [label]);
        let shown = '';
        for (let n = 1; n < points.length; n += 1) shown += filter.push(whole.slice(points[n - 1], points[n]));
        shown += filter.end();
        expect(shown + filter.end()).toBe(withoutMarks(whole, '', [label]));
        // Removing a mark may join the text around it to another mark, which stays as text.
        const left = whole.split(new RegExp(`${open}|${close}`)).join('');
        if (!/<<<DATA|DATA>>>/.test(left)) expect(shown).not.toMatch(/<<<DATA|DATA>>>/);
      }),
      { numRuns: 400 },
    );
  });

  it('delay no more of a stream than the beginning of a mark', () => {
    const filter = new QuoteFilter('', [label]);
    expect(filter.push('The sky ')).toBe('The sky ');
    expect(filter.push('is <')).toBe('is ');
    expect(filter.push(' blue')).toBe('< blue');
  });
});
