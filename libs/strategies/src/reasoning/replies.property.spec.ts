import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readCompressed, readDecision, readPlan, readPrepared, readRubric } from './replies.js';
import { meanOf, qualityOf, trendOf } from './rubric.js';
import { DecideOutput, EvaluateOutput, PlanContent, PrepareOutput } from './values.js';

const names = ['research', 'math', 'stock.count'];

/** The same reply as models wrap it. */
const wrapped = (value: object): readonly string[] => {
  const json = JSON.stringify(value);
  return [json, `Here it is:\n\`\`\`json\n${json}\n\`\`\`\nDone.`, json.replace(/\}$/, ',}'), `Sure! ${json} I hope that helps.`];
};

describe('the replies of reasoning', () => {
  it('are outputs of their schemas or faults in sentences, whatever the text is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((value) => JSON.stringify(value)),
        ),
        (text) => {
          const read = [
            [readPlan(text, names, 8), PlanContent],
            [readPrepared(text, { capability: 'research', takesArguments: false }), PrepareOutput],
            [readPrepared(text, { capability: 'stock.count', takesArguments: true }), PrepareOutput],
            [readRubric(text), EvaluateOutput],
            [readDecision(text, true), DecideOutput],
          ] as const;
          for (const [reading, schema] of read) {
            if ('output' in reading) expect(schema.safeParse(reading.output).success).toBe(true);
            else expect(reading.faults.length).toBeGreaterThan(0);
          }
          const compressed = readCompressed(text);
          if ('output' in compressed) expect(compressed.output.working_memory.length).toBeLessThanOrEqual(4_000);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['capability', { steps: [{ capability: 'research', input_description: 'x', reason: 'r' }] }],
    ['skill', { steps: [{ step: 1, skill: 'research', query: 'x' }] }],
    ['tool without its server', { steps: [{ tool: 'count', description: 'x' }] }],
    ['name in step', { steps: [{ step: 'Research', input: 'x' }] }],
    ['skill_name and reason alone', { plan: [{ skill_name: 'math', reason: 'x' }] }],
  ])('a plan is read with %s', (_what, value) => {
    for (const text of wrapped(value))
      expect(readPlan(text, names, 8)).toMatchObject({
        output: { steps: [{ capability: expect.stringMatching(/^(research|math|stock\.count)$/), input_description: 'x' }] },
      });
  });

  it('single quotes count if there are no double ones', () => {
    expect(readDecision("{'action': 'stuck', 'reason': 'no way'}", true)).toMatchObject({ output: { action: 'stuck' } });
  });

  it('a plan of unknown or too many steps is refused with the names that are allowed', () => {
    const steps = [
      { capability: 'rocket', input_description: 'x' },
      { capability: '', input_description: '' },
    ];
    expect(readPlan(JSON.stringify({ steps }), names, 1)).toEqual({
      faults: expect.arrayContaining([
        expect.stringContaining('2 steps; at most 1'),
        expect.stringContaining('"rocket", which is not allowed. Use one of: research, math, stock.count.'),
        expect.stringContaining('Step 2 names no capability'),
      ]),
    });
  });

  it('the quality follows from the scores, never from the words of the model', () => {
    const read = readRubric('{"quality": "good", "relevance": 1, "completeness": "1/5", "usability": 1, "goal_progress": 9}');
    expect(read).toMatchObject({ output: { rubric: { relevance: 1, completeness: 1, usability: 1, goal_progress: 5 } } });
    expect(readRubric('{"quality": "good"}')).toMatchObject({ faults: { length: 4 } });
    const rubric = fc.record({
      relevance: fc.integer({ min: 1, max: 5 }),
      completeness: fc.integer({ min: 1, max: 5 }),
      usability: fc.integer({ min: 1, max: 5 }),
      goal_progress: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(rubric, (scores) => {
        const sum = Object.values(scores).reduce((all, one) => all + one, 0);
        expect(qualityOf(meanOf(scores))).toBe(sum >= 14 ? 'good' : sum >= 8 ? 'partial' : 'failed');
      }),
    );
  });

  it.each([
    [95, 1],
    ['0.8', 0.8],
    [-3, 0],
    ['very', 0],
    [undefined, 0],
  ])('a confidence of %j is %d', (said, confidence) => {
    expect(readDecision(JSON.stringify({ action: 'done', confidence: said }), true)).toMatchObject({ output: { confidence } });
  });

  it('a question needs a user who can answer', () => {
    const text = JSON.stringify({ action: 'ask_user', question: 'Which?' });
    expect([readDecision(text, true), readDecision(text, false)]).toMatchObject([
      { output: { question: 'Which?' } },
      { faults: [expect.stringContaining('Nobody')] },
    ]);
  });
});

describe('the trend of the scores', () => {
  it.each([
    [[], null],
    [[3], 'stable'],
    [[3, 3.3], 'stable'],
    [[3, 3.4], 'improving'],
    [[5, 1, 2, 3], 'improving'],
    [[4, 3.5, 3.4], 'stable'],
    [[4, 3.6, 3.3], 'DEGRADING'],
  ] as const)('of %j is %s', (means, trend) => {
    expect(trendOf(means)).toBe(trend);
  });
});

describe('the input of a step for a tool', () => {
  const prepared = (input: unknown, signature: string) =>
    readPrepared(JSON.stringify({ input }), { capability: 'sums.calculate', takesArguments: true, signature });

  it.each([
    ['17 - 9', 'expression: string', { expression: '17 - 9' }],
    [3, 'n: integer, exact?: boolean', { n: 3 }],
    ['x', 'text: string, mode?: "encode" | "decode"', { text: 'x' }],
    [{ expression: '1' }, 'expression: string', { expression: '1' }],
  ])('may be the value of its only required argument: %j for (%s)', (input, signature, args) => {
    expect(prepared(input, signature)).toMatchObject({ output: { tool: 'sums.calculate', args } });
  });
  it.each([
    ['2024-02-29', 'year?: integer, date?: string'],
    ['x', 'date1: string, date2: string'],
    ['x', 'values: (number | string)[]'],
    ['', 'expression: string'],
    ['the words to search or the instruction, or an object with the arguments of a tool', 'expression: string'],
  ])('is refused with the arguments of the tool otherwise: %j for (%s)', (input, signature) => {
    expect(prepared(input, signature)).toEqual({ faults: [`"input" must be an object with the arguments of the tool: (${signature}).`] });
  });
});

describe('a working memory', () => {
  const memoryOf = (working_memory: string) => {
    const read = readDecision(JSON.stringify({ action: 'continue', confidence: 1, working_memory }), true);
    return 'output' in read ? read.output.working_memory : null;
  };
  it('is kept if a reply only copies the words of the prompt', () => expect(memoryOf('the working memory, brought up to date')).toBeNull());
  it('loses the marks of quoted data', () => expect(memoryOf('<<<DATA\n29 days\nDATA>>>')).toBe('29 days'));
});
