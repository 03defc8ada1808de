import { describe, expect, it } from '@jest/globals';
import type { PlannedTask, Template } from '@conclave/contracts';
import { currentFacts } from '@conclave/loop';
import { expert, research, runId, Scenario } from '../testing/scenario.js';

const calculation = (id: string, expression: string, changes: Partial<PlannedTask> = {}): PlannedTask => ({
  ...research(id, ''),
  capability: 'math',
  task: 'Calculate the tax',
  query: null,
  tool: 'evaluate',
  args: { expression },
  ...changes,
});
const started = (changes: Partial<Template> = {}): Scenario => {
  const run = new Scenario({
    capabilities: ['research', 'math'],
    classes: { expert: 'expert', research: 'evidence', math: 'evidence', judge: 'judge' },
    experts: { general: { t1: ['m@fake'], prompt: '' }, science: { t1: ['m@fake'], prompt: '' } },
    ...changes,
  });
  run.requested();
  return run;
};
const current = (run: Scenario): readonly string[] => currentFacts(run.state!.memory).map(({ text }) => text);
const isHistory = (run: Scenario, id: string): boolean => run.state!.tasks[`${runId}/${id}`]!.superseded === true;

/** One round that finds a year with the given confidence, then the same question with new evidence. */
function twoRounds(first: number, second: number, again: Partial<PlannedTask> = {}): Scenario {
  const run = started();
  run.planned(0, [expert('x1', 'When did it open?')]);
  run.answered('x1', 'It opened in 1931.', first);
  run.judged('needs_more_info', 'proof');
  run.planned(1, [research('r1', 'opening'), { ...expert('x1', 'When did it open?', ['r1']), ...again }]);
  run.found('r1', 'A passage.');
  run.answered('x1', 'It opened in 1932.', second);
  return run;
}

describe('an answer of a later round', () => {
  it.each([
    [0.4, 0.9],
    [0.6, 0.6],
  ])('to the same question takes the place of one that was no surer: %d and then %d', (first, second) => {
    const run = twoRounds(first, second);
    expect(current(run)).toEqual(['A passage.', 'It opened in 1932.']);
    expect([isHistory(run, '0/x1'), isHistory(run, '1/x1')]).toEqual([true, false]);
    // The audit keeps superseded facts.
    expect(run.state!.memory.facts.map(({ text }) => text)).toContain('It opened in 1931.');
  });

  it('is superseded itself by one that was surer', () => {
    expect(current(twoRounds(0.9, 0.6))).toEqual(['It opened in 1931.', 'A passage.']);
  });

  it('to another question of the same category is kept beside it', () => {
    expect(current(twoRounds(0.4, 0.9, { task: 'Who built it?' }))).toHaveLength(3);
  });

  it.each([['0/x1'], ['x1']])('takes the place of the one its plan names as %s, whatever its words and category are', (name) => {
    const changes = { task: 'Settle the year for good', capability: 'expert.science', redoes: [name] };
    expect(current(twoRounds(0.4, 0.9, changes))).toEqual(['A passage.', 'It opened in 1932.']);
  });

  it('repeats what the earlier one said: the finding stays', () => {
    const run = started();
    run.planned(0, [expert('x1', 'When did it open?')]);
    run.answered('x1', 'It opened in 1931.', 0.4);
    run.judged('needs_more_info', 'proof');
    run.planned(1, [research('r1', 'opening'), expert('x1', 'When did it open?', ['r1'])]);
    run.found('r1', 'A passage.');
    run.answered('x1', 'It opened in 1931.', 0.9);
    expect(current(run)).toEqual(['It opened in 1931.', 'A passage.']);
  });

  it('takes no place where two of a round were asked in the same words: which one is meant is not said', () => {
    const run = started();
    run.planned(0, [research('r1', 'one'), research('r2', 'two'), expert('x1', 'Explain it', ['r1']), expert('x2', 'Explain it', ['r2'])]);
    run.found('r1', 'f1');
    run.found('r2', 'f2');
    run.answered('x1', 'About one.');
    run.answered('x2', 'About two.');
    run.judged('needs_more_info', 'three');
    run.planned(1, [research('r1', 'three'), expert('x1', 'Explain it', ['r1'])]);
    run.found('r1', 'f3');
    run.answered('x1', 'About three.', 0.9);
    expect(current(run)).toEqual(['f1', 'f2', 'About one.', 'About two.', 'f3', 'About three.']);
  });

  it('of two tasks of one round nothing is dropped', () => {
    const run = started();
    run.planned(0, [expert('x1', 'Clean the kitchen'), expert('x2', 'Clean the bathroom')]);
    run.answered('x1', 'Mop it.', 0.9);
    run.answered('x2', 'Scrub it.', 0.8);
    expect(current(run)).toEqual(['Mop it.', 'Scrub it.']);
  });
});

describe('the next plan', () => {
  it('receives the answers and tool results that still count, with what their experts left open', () => {
    const run = started();
    run.planned(0, [calculation('m1', '100*0.91'), research('r1', 'the rate'), expert('x1', 'Say it', ['m1', 'r1'])]);
    run.found('m1', 'The tax is 91.');
    run.found('r1', 'The rate is 19 %.');
    run.result('x1', { output: { kind: 'answer', text: 'So.', finding: 'So.' }, confidence: 0.4, gaps: ['the statute', 'the date'] });
    run.judged('needs_more_info', 'the rate was wrong');
    const told = (): unknown => (run.outputs.findLast(({ type }) => type === 'GapDetected')!.data as { results: unknown }).results;
    expect(told()).toEqual([
      { id: '0/x1', capability: 'expert.general', task: 'Say it', confidence: 0.4, gaps: ['the statute', 'the date'] },
      { id: '0/m1', capability: 'math', task: 'Calculate the tax', confidence: null, gaps: [] },
    ]);
    run.planned(1, [calculation('m1', '100*0.19')]);
    run.found('m1', 'The tax is 19.');
    run.judged('needs_more_info', 'more');
    expect(told()).toMatchObject([{ id: '1/m1' }, { id: '0/x1' }]);
  });
});

describe('a result of a tool', () => {
  const corrected = (second: PlannedTask): Scenario => {
    const run = started();
    run.planned(0, [calculation('m1', '100*0.91'), research('r1', 'the rate')]);
    run.found('m1', 'The tax is 91.');
    run.found('r1', 'The rate is 19 %.');
    run.judged('needs_more_info', 'the rate was wrong');
    run.planned(1, [second, expert('x1', 'Say it', [second.id])]);
    run.found(second.id, 'The tax is 19.');
    return run;
  };

  it('is superseded by the next one of the same tool for the same task, and tasks that build on it see only the new one', () => {
    const run = corrected(calculation('m1', '100*0.19'));
    expect(current(run)).toEqual(['The rate is 19 %.', 'The tax is 19.']);
  });

  it('is superseded by the one that names it', () => {
    const run = corrected(calculation('m2', '100*0.19', { task: 'Correct the tax', redoes: ['m1'] }));
    expect(current(run)).toEqual(['The rate is 19 %.', 'The tax is 19.']);
  });

  it('stays beside that of another task, and beside a passage that is found later', () => {
    expect(current(corrected(calculation('m2', '100*0.19', { task: 'Calculate the discount' })))).toHaveLength(3);
    expect(current(corrected(research('r2', 'the tax in full')))).toHaveLength(3);
  });

  it('stays if the next one fails', () => {
    const run = started();
    run.planned(0, [calculation('m1', '100*0.91')]);
    run.found('m1', 'The tax is 91.');
    run.judged('needs_more_info', 'the rate was wrong');
    run.planned(1, [calculation('m1', '100*0.19')]);
    run.failed('m1');
    expect(current(run)).toEqual(['The tax is 91.']);
  });
});

describe('the first tier', () => {
  const tiers = { max_agentic_rounds: 0, experts: { general: { t1: ['m@fake'], t2: ['big@fake'], prompt: '' } } };

  it.each(['unsure', 'failed'] as const)('that was %s is replaced by the second one, which is the answer without a merger', (first) => {
    const run = started(tiers);
    run.planned(0, [expert('x1', 'answer')]);
    if (first === 'unsure') run.answered('x1', 'perhaps', 0.3);
    else run.failed('x1');
    run.answered('x1~t2', 'surely', 0.95);
    expect(run.dispatched()).toEqual(['0/x1', '0/x1~t2']);
    expect(run.completed()).toMatchObject({ answer: 'surely' });
    expect(current(run)).toEqual(['surely']);
  });

  it('counts if the second one fails', () => {
    const run = started(tiers);
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'perhaps', 0.3);
    run.failed('x1~t2');
    expect(current(run)).toEqual(['perhaps']);
  });
});

describe('refinement', () => {
  it('asks every unsure expert of a category again, and the better finding replaces the earlier one', () => {
    const run = started({ max_agentic_rounds: 0, refine_rounds: 1 });
    run.planned(0, [expert('x1', 'Clean the kitchen'), expert('x2', 'Clean the bathroom')]);
    run.answered('x1', 'Mop it.', 0.3);
    run.answered('x2', 'Scrub it.', 0.3);
    const id = (local: string): string => `${runId}/0/${local}`;
    run.result('judge.hints', { output: { kind: 'hints', hints: { [id('x1')]: 'Be exact.', [id('x2')]: 'Be exact.' } } });
    run.answered('x1~r1', 'Mop it twice.', 0.9);
    run.answered('x2~r1', 'Scrub it twice.', 0.9);
    run.result('judge.score', { output: { kind: 'scores', scores: [{ taskId: id('x1~r1'), before: 0.3, after: 0.9 }] } });
    expect(current(run)).toEqual(['Scrub it.', 'Mop it twice.']);
  });
});
