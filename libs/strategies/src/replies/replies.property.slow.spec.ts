import { describe, expect, it } from '@jest/globals';
import { Insight, promptMarks as marks, GapVerdict, type Template } from '@conclave/contracts';
import fc from 'fast-check';
import { readExpert } from './expert-reply.js';
import { readGap } from './gap-reply.js';
import { InsightFilter, readInsight } from './insight.js';
import { jsonIn } from './json-reply.js';
import { readPlan } from './plan-reply.js';

const template = { experts: { general: {} }, capabilities: ['research'] } as unknown as Template;

/** Text of a model that almost keeps the format: format marks mixed with anything else. */
const pieces = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ...Object.values(marks.expertMarkers),
    ...Object.values(marks.gapCheck),
    marks.insight.open,
    marks.insight.close,
    '```json',
    '```',
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\n',
    '**',
    '- ',
    '<think>',
    '</think>',
    '{"tasks":',
    '```yaml\n',
    'tasks:\n',
    '  - id: x1\n',
    '    task: *a &b !!c ',
    '    needs: []\n',
    '"id":"x1"',
    '0.5',
    'none',
    '__proto__',
    '\\',
  ),
);
const reply = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''));

describe('any reply of a model', () => {
  it('is read by every parser without an exception, as values of the declared shape', () => {
    fc.assert(
      fc.property(reply, (text) => {
        const expert = readExpert(text);
        expect(expert.confidence === null || (expert.confidence >= 0 && expert.confidence <= 1)).toBe(true);
        expect(GapVerdict.safeParse(readGap(text)).success).toBe(true);
        const plan = readPlan(text, template, 'the question');
        expect(plan.ok ? plan.tasks.length : plan.faults.length).toBeGreaterThan(0);
        jsonIn(text);
        for (const block of [text, null]) {
          const { insight } = readInsight(block);
          expect(insight === null || Insight.safeParse(insight).success).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('shows the same text wherever its stream is cut, and never the insight block or a part of its tag', () => {
    const around = fc.string({ unit: 'binary' }).filter((text) => !text.includes('<'));
    const inside = fc.string({ unit: 'binary' }).filter((text) => !text.includes('<'));
    fc.assert(
      fc.property(around, inside, fc.boolean(), fc.array(fc.nat(200), { maxLength: 15 }), (before, block, closed, cuts) => {
        const whole = `${before}${marks.insight.open}${block}${closed ? marks.insight.close : ''}`;
        const points = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const filter = new InsightFilter();
        let shown = '';
        for (let n = 1; n < points.length; n += 1) shown += filter.push(whole.slice(points[n - 1], points[n]));
        const end = filter.end();
        expect(shown + end.shown).toBe(before);
        expect(end.block?.trim()).toBe(block.trim());
      }),
      { numRuns: 300 },
    );
  });
});
