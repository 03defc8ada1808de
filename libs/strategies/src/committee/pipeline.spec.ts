import { describe, expect, it } from '@jest/globals';
import type { Template } from '@conclave/contracts';
import { keptEntries } from '@conclave/loop';
import { strategyOf } from '../registry.js';
import type { Own } from './own.js';
import { expert, research, Scenario, template } from '../testing/scenario.js';

const profile = (changes: Partial<Template['experts'][string]> = {}): Template['experts'][string] => ({
  t1: ['m@fake'],
  prompt: '',
  ...changes,
});
const single = (changes: Partial<Template> = {}): Partial<Template> => ({ max_agentic_rounds: 0, ...changes });
const long = 'The notice has to reach the other side in writing within fourteen days of the conclusion of the contract.';
const models = (run: Scenario, local: string): unknown =>
  (run.outputs.find(({ type, id }) => type === 'TaskDispatched' && id.endsWith(`/${local}`))?.data as { models: string[] } | undefined)
    ?.models;

describe('tiers', () => {
  const tiers = single({ experts: { general: profile({ t2: ['big@fake'] }) } });

  it('ask the second one below 0.65, and for a first one that failed; the surer answer is merged', () => {
    for (const first of ['unsure', 'failed'] as const) {
      const run = new Scenario(tiers);
      run.requested();
      run.planned(0, [research('r1', 'it'), expert('x1', 'answer', ['r1'])]);
      run.found('r1', 'A fact.');
      if (first === 'unsure') run.answered('x1', 'perhaps', 0.64);
      else run.failed('x1');
      expect(models(run, 'x1~t2')).toEqual(['big@fake']);
      run.answered('x1~t2', 'surely', 0.9);
      expect(run.dispatched()).toEqual(['0/r1', '0/x1', '0/x1~t2', '0/judge.synthesis']);
    }
  });

  it('leave the second one alone from 0.65 on, and ask it once', () => {
    const run = new Scenario(tiers);
    run.requested();
    run.planned(0, [expert('x1', 'answer'), expert('x2', 'more')]);
    run.answered('x1', 'surely', 0.65);
    run.answered('x2', 'perhaps', 0.2);
    run.answered('x2~t2', 'perhaps too', 0.2);
    expect(run.dispatched()).toEqual(['0/x1', '0/x2', '0/x2~t2', '0/judge.synthesis']);
  });

  it('ask the members that always answer beside the first tier', () => {
    const run = new Scenario(single({ experts: { general: profile({ always: ['a@fake', 'b@fake'] }) } }));
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    expect([models(run, 'x1~a1'), models(run, 'x1~a2')]).toEqual([['a@fake'], ['b@fake']]);
    run.answered('x1', 'one', 0.9);
    run.answered('x1~a1', 'two', 0.1);
    run.answered('x1~a2', 'three', 0.1);
    // Three answers are merged even if the first is sure.
    expect(run.dispatched().at(-1)).toBe('0/judge.synthesis');
  });

  it('are asked in the order that the planner drew from the scores', () => {
    const run = new Scenario(single({ experts: { general: profile({ t1: ['m@fake', 'n@fake'] }) } }));
    run.requested();
    run.planned(0, [expert('x1', 'answer')], undefined, { choices: { general: ['n@fake', 'm@fake'] } });
    expect(models(run, 'x1')).toEqual(['n@fake', 'm@fake']);
  });
});

describe('a trivial question', () => {
  const trivial = (changes: Partial<Template> = {}): Scenario => {
    const run = new Scenario({ ...changes });
    run.requested();
    run.planned(0, [expert('x1', 'answer')], undefined, { complexity: 'trivial' });
    return run;
  };

  it('has one task and no gap check, in a template that would assess', () => {
    const run = trivial();
    run.answered('x1', 'It is so.', 0.2);
    expect(run.dispatched()).toEqual(['0/x1']);
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: 'It is so.', complexity: 'trivial' });
  });

  it.each([
    ['a trivial question', 'trivial', 0.2],
    ['one sure expert', 'moderate', 0.9],
  ] as const)('whose answer was cut at the token limit says so: %s', (_what, complexity, confidence) => {
    const run = new Scenario(single());
    run.requested();
    run.planned(0, [expert('x1', 'answer')], undefined, { complexity });
    run.result('x1', { output: { kind: 'answer', text: 'It is', finding: 'It is', cutShort: true }, confidence });
    expect(run.dispatched()).toEqual(['0/x1']);
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: 'It is', cutShort: true });
  });

  it.each([
    ['live', {}],
    ['held', { experts: { general: profile({ t2: ['big@fake'] }) } }],
    ['held', { critic: { categories: ['general'] } }],
  ])('is shown %s if the template is %j', (stream, changes) => {
    const run = trivial(changes);
    expect(run.outputs.find(({ type }) => type === 'TaskDispatched')?.data).toMatchObject({ stream });
  });
});

describe('refinement', () => {
  const asked = (changes: Partial<Template> = {}): Scenario => {
    const run = new Scenario(single({ refine_rounds: 2, ...changes }));
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'perhaps', 0.3);
    return run;
  };
  const id = (run: Scenario, local: string): string => `${run.state!.runId}/0/${local}`;
  const hinted = (run: Scenario, n = ''): unknown =>
    run.result(`judge.hints${n}`, { output: { kind: 'hints', hints: { [id(run, n === '' ? 'x1' : 'x1~r1')]: 'Be exact.' } } });
  const scored = (run: Scenario, before: number, after: number, n = ''): unknown =>
    run.result(`judge.score${n}`, {
      output: { kind: 'scores', scores: [{ taskId: id(run, n === '' ? 'x1~r1' : 'x1~r2'), before, after }] },
    });

  it('uses a better answer, and its finding joins the ledger only then', () => {
    const run = asked();
    hinted(run);
    run.answered('x1~r1', 'exactly', 0.9);
    expect(run.state!.memory.facts.map(({ text }) => text)).toEqual(['perhaps']);
    scored(run, 0.3, 0.8);
    expect(run.state!.memory.facts.map(({ text }) => text)).toEqual(['perhaps', 'exactly']);
    expect(run.completed()).toMatchObject({ answer: 'exactly' });
  });

  it.each([
    [0.5, 0.5],
    [0.5, 0.4],
  ])('does not use one that is scored %d before and %d after', (before, after) => {
    const run = asked({ refine_rounds: 1 });
    hinted(run);
    run.answered('x1~r1', 'quite another text', 0.9);
    scored(run, before, after);
    expect(run.state!.tasks[id(run, 'x1')]?.superseded).toBe(false);
    expect(run.state!.memory.facts.map(({ text }) => text)).toEqual(['perhaps']);
    expect(run.dispatched().at(-1)).toBe('0/judge.synthesis');
  });

  it('continues for a second round if the better answer is unsure, but not for a third', () => {
    const run = asked();
    hinted(run);
    run.answered('x1~r1', 'a little better', 0.5);
    scored(run, 0.3, 0.4);
    hinted(run, '.1');
    run.answered('x1~r2', 'better still', 0.55);
    scored(run, 0.4, 0.5, '.1');
    expect(run.dispatched()).toEqual([
      '0/x1',
      '0/judge.hints',
      '0/x1~r1',
      '0/judge.score',
      '0/judge.hints.1',
      '0/x1~r2',
      '0/judge.score.1',
      '0/judge.synthesis',
    ]);
  });

  it.each(['judge.hints', 'judge.score'])('is given up when %s fails, and the answer is written all the same', (judge) => {
    const run = asked();
    if (judge === 'judge.score') {
      hinted(run);
      run.answered('x1~r1', 'exactly', 0.9);
    }
    run.failed(judge);
    expect(run.dispatched().at(-1)).toBe('0/judge.synthesis');
  });
});

describe('thinking', () => {
  const complex = (changes: Partial<Template> = {}): Scenario => {
    const run = new Scenario(single({ thinking: true, ...changes }));
    run.requested();
    run.planned(0, [expert('x1', 'answer')], undefined, { complexity: 'complex' });
    run.answered('x1', 'perhaps');
    return run;
  };
  it('comes before the synthesis of a complex question', () => {
    const run = complex();
    run.result('judge.thinking', { output: { kind: 'thinking', text: 'CONCLUSION: yes' } });
    expect((run.state!.own as Own).thinking).toBe('CONCLUSION: yes');
    expect(run.dispatched()).toEqual(['0/x1', '0/judge.thinking', '0/judge.synthesis']);
  });
  it('can fail without consequences', () => {
    const run = complex();
    run.failed('judge.thinking');
    run.composed('written');
    expect(run.completed()).toMatchObject({ answer: 'written' });
  });
  it('is left out if the template does not want it', () => {
    expect(complex({ thinking: false }).dispatched()).toEqual(['0/x1', '0/judge.synthesis']);
  });
});

describe('the critic', () => {
  const reviewed = single({
    critic: { categories: ['legal_advisor'] },
    experts: { general: profile(), legal_advisor: profile() },
  });
  const legal = (id: string) => ({ ...expert(id, 'law'), capability: 'expert.legal_advisor' });
  const written = (changes: Partial<Template> = reviewed): Scenario => {
    const run = new Scenario(changes);
    run.requested();
    run.planned(0, [legal('x1')]);
    run.answered('x1', 'fourteen days');
    run.composed(long);
    return run;
  };

  it('holds the text back and releases the answer as the critic leaves it', () => {
    const run = written();
    expect(run.outputs.find(({ id }) => id.endsWith('judge.synthesis'))?.data).toMatchObject({ stream: 'held' });
    run.result('judge.critic', { output: { kind: 'critique', verdict: 'corrected', reasons: ['period'], text: 'Thirty days.' } });
    expect(run.completed()).toMatchObject({ answer: 'Thirty days.', review: 'corrected', insight: null });
  });

  it('looks at every round: a re-plan without the category does not drop it', () => {
    const run = new Scenario({ ...reviewed, max_agentic_rounds: 2 });
    run.requested();
    run.planned(0, [legal('x1')]);
    run.answered('x1', 'fourteen days');
    run.judged('needs_more_info', 'the form');
    run.planned(1, [research('r1', 'form of notice')]);
    run.found('r1', 'It is in writing.');
    run.judged('complete');
    run.composed(long);
    expect(run.dispatched().at(-1)).toBe('1/judge.critic');
  });

  it('reviews a question that is itself dangerous, whatever category the plan names, and a trivial answer too', () => {
    const shown = (topic: 'medicine' | 'law' | 'danger', more = {}): Scenario => {
      const run = new Scenario({ ...reviewed, critic: { categories: ['medical_consult'] } });
      run.requested();
      run.planned(0, [expert('x1', 'how much')], undefined, { safety: [topic], ...more });
      return run;
    };
    for (const topic of ['medicine', 'danger'] as const) {
      const run = shown(topic);
      run.answered('x1', 'x', 0.5);
      expect(run.outputs.find(({ id }) => id.endsWith('judge.synthesis'))?.data).toMatchObject({ stream: 'held' });
      run.composed(long);
      expect(run.dispatched().at(-1)).toBe('0/judge.critic');
    }
    const trivial = shown('medicine', { complexity: 'trivial' });
    expect(trivial.outputs.find(({ type }) => type === 'TaskDispatched')?.data).toMatchObject({ stream: 'held' });
    trivial.answered('x1', long, 0.9);
    expect(trivial.dispatched().at(-1)).toBe('0/judge.critic');
    const elsewhere = shown('law');
    elsewhere.answered('x1', 'x', 0.5);
    elsewhere.composed(long);
    expect(elsewhere.completed()).toMatchObject({ review: 'none' });
  });

  it('that fails, or whose time is over, leaves an answer which says that it was not reviewed', () => {
    const failed = written();
    failed.failed('judge.critic');
    const late = written();
    late.now += 301_000;
    late.fired();
    for (const run of [failed, late]) {
      expect(run.completed()).toMatchObject({ review: 'not_reviewed' });
      expect(String(run.completed()!['answer'])).toMatch(/not reviewed\.$/);
    }
  });

  it('is not asked about short answers and other categories', () => {
    const run = new Scenario(reviewed);
    run.requested();
    run.planned(0, [legal('x1')]);
    run.answered('x1', 'fourteen days');
    run.composed('Fourteen days.');
    expect(run.completed()).toMatchObject({ answer: 'Fourteen days.', review: 'none' });
    const other = new Scenario(reviewed);
    other.requested();
    other.planned(0, [expert('x1', 'x')]);
    other.answered('x1', 'so');
    other.composed(long);
    expect(other.completed()).toMatchObject({ review: 'none' });
  });
});

describe('a cached answer', () => {
  it('is a run of one step that plans nothing', () => {
    const run = new Scenario();
    run.requested(
      {},
      { cached: { origin: 'semantic', runId: 'run_00000009', question: 'q', answer: 'Known.', sources: [], distance: 0.04, storedAt: 1 } },
    );
    expect(run.types()).toEqual(['RunCompleted']);
    expect(run.completed()).toMatchObject({
      outcome: 'completed',
      answer: 'Known.',
      cached: { origin: 'semantic', runId: 'run_00000009' },
      usage: { calls: 0 },
    });
    expect(run.completed()!['reason']).toContain('distance 0.04');
  });

  it('is known to every holder of the request: the entries of the run, before the engine handles it', () => {
    const cached = {
      origin: 'exact' as const,
      runId: 'run_00000009',
      question: 'q',
      answer: 'Known.',
      sources: [],
      distance: null,
      storedAt: 1,
    };
    const run = new Scenario();
    const request = run.request({}, { cached });
    const known = keptEntries(request, strategyOf);
    run.now += 5_000;
    run.feed(request);
    expect(known).toEqual(run.decisions[0]!.entries);
    expect(known!.at(-1)).toMatchObject({ kind: 'run.completed', answer: 'Known.' });
    expect(keptEntries(run.request(), strategyOf)).toBeNull();
  });
});

it('the templates of these scenarios say nothing about the pipeline by themselves', () => {
  expect(Object.keys(template())).not.toEqual(expect.arrayContaining(['critic', 'thinking', 'refine_rounds', 'complexity']));
});
