import { describe, expect, it } from '@jest/globals';
import { ask } from './__fixtures__/ask.js';
import { questions } from './__fixtures__/questions.js';

describe('the question set', () => {
  it.each(questions)('answers %s exactly', (_question, tool, args, answer) => {
    expect(ask(tool, args)).toMatchObject(answer);
  });

  it('has at least sixty questions of arithmetic, dates, units and subnets', () => {
    const core = questions.filter(([, tool]) => /^(calculate|date_|day_of|calendar|timezone|unit_|subnet_)/.test(tool));
    expect(core.length).toBeGreaterThanOrEqual(60);
  });
});
