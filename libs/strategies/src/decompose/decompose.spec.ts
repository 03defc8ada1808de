import { describe, expect, it } from '@jest/globals';
import { childRunId, type PlanRequested, type TaskDispatched, type Template } from '@conclave/contracts';
import { research, oneCall, runId, Scenario, template } from '../testing/scenario.js';
import { topicTask } from './topics.js';

const law = { name: 'law', description: 'Statutes' };
const topics = (...names: string[]) => names.map((name, index) => topicTask(index + 1, name, `about ${name}`, []));
const content = (synthesis = 'compare') => ({ content: { synthesis } });

/** A run that awaits its plan. */
function began(options: Template['options'] = {}, limits = {}): Scenario {
  const run = new Scenario({ strategy: 'decompose', options, collections: [law], capabilities: ['research', 'collections'] });
  run.requested(limits);
  return run;
}
const stagesOf = (run: Scenario) => run.facts.flatMap((fact) => (fact.kind === 'Noted' && fact.stage ? [fact.stage] : []));
const inputOf = (run: Scenario, local: string) =>
  run.outputs.find((event): event is TaskDispatched => event.type === 'TaskDispatched' && event.id.endsWith(`/${local}`))!.data.input;
const topicsGiven = (run: Scenario) => (inputOf(run, 'judge.synthesis') as { topics: unknown }).topics;

describe('decompose', () => {
  it('researches its sub-topics at the same time, then writes one answer, and says what it does', () => {
    const run = began();
    run.planned(0, topics('trains', 'ferries'), oneCall, content());
    expect(run.dispatched()).toEqual(['0/t1', '0/t2']);
    expect(inputOf(run, 't1')).toEqual({
      kind: 'subtopic',
      topic: 'trains',
      query: 'about trains',
      goal: 'Who founded it?',
      collections: ['law'],
      search: true,
      filters: {},
      limit: 3,
    });
    run.found('t2', 'Ferries cost 9.');
    run.found('t1', 'Trains cost 12.');
    expect(run.dispatched().at(-1)).toBe('0/judge.synthesis');
    expect(topicsGiven(run)).toEqual({
      how: 'compare',
      found: [
        { topic: 'trains', facts: [2] },
        { topic: 'ferries', facts: [1] },
      ],
      empty: [],
      failed: [],
    });
    run.composed('Ferries are cheaper [1].');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D6', answer: 'Ferries are cheaper [1].', rounds: 1 });
    expect(stagesOf(run)).toEqual(['decomposing', 'researching_parallel', 'synthesizing', 'done']);
  });

  it('distinguishes a sub-topic that failed from one that found nothing', () => {
    const run = began();
    run.planned(0, topics('trains', 'ferries', 'planes'), oneCall, content('rank'));
    run.found('t1', 'Trains cost 12.');
    run.found('t2');
    run.failed('t3');
    expect(topicsGiven(run)).toEqual({
      how: 'rank',
      found: [{ topic: 'trains', facts: [1] }],
      empty: ['ferries'],
      failed: [{ topic: 'planes', reason: 'broken' }],
    });
    run.composed('Trains.');
    expect(run.completed()).toMatchObject({ outcome: 'completed', caching: null });
  });

  it('counts a fact for each sub-topic that found it', () => {
    const run = began();
    run.planned(0, topics('trains', 'ferries'), oneCall, content());
    run.found('t1', 'Both cost 12.');
    run.found('t2', 'Both cost 12.');
    expect(topicsGiven(run)).toMatchObject({ found: [{ facts: [1] }, { facts: [1] }], empty: [] });
  });

  it('works on the whole question if no plan arrives', () => {
    const run = began();
    run.planFailed(0);
    expect(run.dispatched()).toEqual(['0/t1']);
    expect(inputOf(run, 't1')).toMatchObject({ query: 'Who founded it?' });
    run.found('t1', 'Jonas did.');
    run.composed('Jonas [1].');
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: 'Jonas [1].' });
  });

  it.each([
    ['no sub-topic', [], content()],
    ['five sub-topics', topics('a', 'b', 'c', 'd', 'e'), content()],
    ['an id used twice', [topicTask(1, 'a', 'a', []), topicTask(1, 'b', 'b', [])], content()],
    ['a circle', topics('a', 'b').map((task, index, all) => ({ ...task, needs: [all[1 - index]!.id] })), content()],
    ['another capability', [{ ...topicTask(1, 'a', 'a', []), capability: 'mcp' }], content()],
    ['a missing synthesis', topics('a'), {}],
  ])('refuses a plan with %s, and continues', (_, tasks, more) => {
    const run = began();
    run.planned(0, tasks, oneCall, more);
    expect(run.facts.some(({ kind }) => kind === 'PlanRefused')).toBe(true);
    expect(run.dispatched()).toEqual(['0/t1']);
  });

  it('answers from what the model knows if nothing was found at all, and is not complete', () => {
    const run = began();
    run.planned(0, topics('trains', 'ferries'), oneCall, content());
    run.found('t1');
    run.found('t2');
    const why = 'Nothing was found about this in what was looked up.';
    expect(inputOf(run, 'judge.synthesis')).toMatchObject({ facts: [], openGap: why, unsourced: 'nothing_found' });
    run.composed('Trains are faster, I think.');
    expect(run.completed()).toMatchObject({
      ...{ outcome: 'limit_reached', rule: 'D6', answer: 'Trains are faster, I think.' },
      reason: expect.stringContaining('Nothing was found about any sub-topic.'),
    });
  });

  it('fails if no model replied about any sub-topic, without another call', () => {
    const run = began();
    run.planned(0, topics('trains', 'ferries'), oneCall, content());
    run.failed('t1');
    run.failed('t2');
    expect(run.completed()).toMatchObject({ outcome: 'failed', reasonCode: 'empty_ledger', answer: null, failure: { message: 'broken' } });
    expect(run.dispatched()).not.toContain('0/judge.synthesis');
  });

  it('builds the answer by itself if no model writes it, and says what is missing', () => {
    const run = began();
    run.planned(0, topics('trains', 'ferries'), oneCall, content());
    run.found('t1', 'Trains cost 12.');
    run.failed('t2');
    run.failed('judge.synthesis');
    expect(run.completed()).toMatchObject({
      outcome: 'completed',
      reasonCode: 'composer_failed',
      answer: expect.stringMatching(
        /^trains:\n- Trains cost 12\. \[1\]\n\nWhy it stopped: .+ could not be written by a model \(broken\).+\n\nSources:\n\[1\] doc\n\nNot covered:\n- ferries: the research failed \(broken\)$/,
      ),
    });
  });

  it('begins only the first sub-topic once 70 % of the calls are spent', () => {
    const run = began({}, { model_calls: 10 });
    run.planned(0, topics('trains', 'ferries'), { ...oneCall, calls: 7 }, content());
    expect(run.dispatched()).toEqual(['0/t1']);
    run.found('t1', 'Trains cost 12.');
    expect(topicsGiven(run)).toMatchObject({ failed: [{ topic: 'ferries', reason: expect.stringContaining('budget') }] });
  });

  it('answers without a call if the budget is spent while its sub-topics are under way', () => {
    const run = began({}, { model_calls: 4 });
    run.planned(0, topics('trains', 'ferries'), oneCall, content());
    run.result('t1', {
      usage: { ...oneCall, calls: 3 },
      output: {
        kind: 'evidence',
        facts: [
          {
            text: 'Trains cost 12.',
            source: { kind: 'corpus', title: 'doc', url: null },
            taskId: 'run_00000001/0/t1',
            epoch: 0,
            confidence: null,
          },
        ],
      },
    });
    expect(run.completed()).toMatchObject({
      outcome: 'limit_reached',
      rule: 'D2',
      reasonCode: 'budget_model_calls',
      answer: expect.stringContaining('Trains cost 12.'),
    });
  });

  describe('with child runs, whose prompts are not its own', () => {
    /** A parent that works on one sub-topic at a time; the first child has used this many prompt tokens. */
    const afterChild = (prompt: number, limits = {}): Scenario => {
      const child = template({ id: 'child' });
      const run = new Scenario({ strategy: 'decompose', options: { child: 'child' } });
      run.requested({ concurrent_tasks: 1, prompt_tokens: 1_000, ...limits }, { children: { child } });
      run.planned(0, topics('trains', 'ferries'), oneCall, content());
      const source = { kind: 'corpus' as const, title: 'doc', url: null };
      const facts = [{ text: 'Trains cost 12.', source, taskId: `${runId}/0/t1`, epoch: 0, confidence: null }];
      run.result('t1', {
        usage: { ...oneCall, prompt },
        output: { kind: 'run', runId: childRunId(`${runId}/0/t1`), outcome: 'completed', text: 'Trains cost 12 [1].', facts },
      });
      return run;
    };

    it('lets them teach nothing if it was given documents that are for its request alone', () => {
      const child = template({ id: 'child' });
      const marked = (documents?: PlanRequested['data']['documents']): unknown => {
        const run = new Scenario({ strategy: 'decompose', options: { child: 'child' } });
        run.requested({}, { children: { child }, ...(documents ? { documents } : {}) });
        run.planned(0, topics('trains', 'ferries'), oneCall, content());
        const [begun] = run.outputs.filter(({ type }) => type === 'TaskDispatched') as TaskDispatched[];
        return begun!.data.input;
      };
      expect(marked()).not.toHaveProperty('unlearned');
      expect(marked([{ title: 'a', url: null, text: 'Bea earns 91.' }])).toMatchObject({ kind: 'run', unlearned: true });
      const own = new Scenario({ strategy: 'single-pass', max_agentic_rounds: 0 });
      own.requested({}, { unlearned: true });
      own.planned(0, [research('r1', 'trains')]);
      own.found('r1', 'Trains cost 12.');
      own.composed('Trains cost 12 [1].');
      expect(own.completed()).toMatchObject({ insight: null, caching: null, learning: { graph: 'off' } });
      expect(own.completed()).not.toHaveProperty('remember');
    });

    it('continues if its children sent more tokens than its context guard allows', () => {
      const run = afterChild(5_000);
      expect(run.dispatched()).toEqual(['0/t1', '0/t2']);
      expect(run.state!.spent.prompt).toBe(5_000 + oneCall.prompt);
    });

    it('still counts them against its budget of tokens', () => {
      const run = afterChild(5_000, { tokens: 5_500 });
      expect(run.dispatched()).toEqual(['0/t1', '0/judge.synthesis']);
      run.composed('Trains [1].');
      expect(run.completed()).toMatchObject({ outcome: 'limit_reached', reasonCode: 'budget_tokens' });
    });
  });

  it('is cancelled with its sub-topics', () => {
    const run = began();
    run.planned(0, topics('trains', 'ferries'), oneCall, content());
    run.cancel();
    expect(run.completed()).toMatchObject({ outcome: 'cancelled', rule: 'D1' });
    expect(run.decisions.at(-1)!.cancels).toEqual(['run_00000001/0/t1', 'run_00000001/0/t2']);
  });
});
