import { describe, expect, it } from '@jest/globals';
import { leastProcessorMs } from '@conclave/test-support';
import type { GapDetected, TaskDispatched } from '@conclave/contracts';
import fc from 'fast-check';
import { topicTask } from '../decompose/topics.js';
import { expert, oneCall, Scenario } from '../testing/scenario.js';
import { readClass } from './question-class.js';
import { readRoute } from './route-ask.js';

const began = (goal: string, more = {}, options = {}): Scenario => {
  const run = new Scenario({ strategy: 'adaptive', options });
  run.requested({}, { goal, ...more });
  return run;
};
const strategyIn = (run: Scenario): string => run.state!.strategy;
const routed = (run: Scenario, named: string | null) => run.planned(0, [], oneCall, { content: { class: named } });
const open = 'The harbour and the winter of 1963.';

describe('adaptive', () => {
  it.each([
    ['Who designed the bridge?', 'single-pass'],
    ['Compare slate with tile.', 'decompose'],
    ['Give me an overview of tidal mills.', 'reflective-rag'],
    ['Summarise the report in detail.', 'reflective-rag'],
  ])('hands "%s" over to %s by its words, without a call', (goal, strategy) => {
    const run = began(goal);
    expect([strategyIn(run), run.state!.awaiting?.epoch, run.types()]).toEqual([strategy, 0, []]);
  });

  it.each(['Compare slate with tile.', 'Give me an overview of tidal mills.'])(
    'hands "%s" to the committee if there is nothing to search',
    (goal) => {
      const run = new Scenario({ strategy: 'adaptive', capabilities: ['math'] });
      run.requested({}, { goal });
      expect(strategyIn(run)).toBe('agentic');
    },
  );

  it.each([
    ['comparative', 'decompose'],
    ['factual', 'single-pass'],
    ['exploratory', 'reflective-rag'],
    ['deep_dive', 'reflective-rag'],
    [null, 'agentic'],
  ])('asks a model if the words leave it open: %s goes to %s, which plans again', (named, strategy) => {
    const run = began(open);
    expect(strategyIn(run)).toBe('adaptive');
    routed(run, named);
    expect([strategyIn(run), run.state!.awaiting?.epoch, run.state!.replans]).toEqual([strategy, 1, 0]);
    const [gap] = run.outputs.filter((event): event is GapDetected => event.type === 'GapDetected');
    expect(gap!.data).toMatchObject({ first: true, strategy });
  });

  it.each([
    ['no reply', (run: Scenario) => run.planFailed(0)],
    ['garbage', (run: Scenario) => run.planned(0, [expert('x1', 'answers at once')], oneCall, { content: { class: 'odd' } })],
    ['silence', (run: Scenario) => run.fired()],
  ])('uses the loop after %s of the router', (_, says) => {
    const run = began(open);
    says(run);
    expect(strategyIn(run)).toBe('agentic');
    expect(run.completed()).toBeUndefined();
  });

  it('leaves images and files to the committee, and follow-ups to the model', () => {
    const attachments = [
      {
        kind: 'file',
        name: 'a.txt',
        mime: 'text/plain',
        blob: 'b1',
        bytes: 1,
        url: null,
        text: { characters: 1, tokens: 1, excerpt: 'a' },
      },
    ];
    expect(strategyIn(began('Compare slate with tile.', { attachments }))).toBe('agentic');
    expect(strategyIn(began('Who designed it?', { conversation: [{ role: 'user', content: 'Compare two bridges.' }] }))).toBe('adaptive');
  });

  it('answers like the strategy that took over, with its options and its limits', () => {
    const run = began('Compare slate with tile.', {}, { decompose: { max_topics: 1 } });
    run.planned(0, [topicTask(1, 'a', 'a', []), topicTask(2, 'b', 'b', [])], oneCall, { content: { synthesis: 'merge' } });
    expect(run.facts.some(({ kind }) => kind === 'PlanRefused')).toBe(true);
    expect(run.dispatched()).toEqual(['0/t1']);
    run.found('t1', 'Slate lasts.');
    run.composed('Slate [1].');
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: 'Slate [1].', template: { strategy: 'adaptive' } });
  });

  it('answers in one pass after the router was asked, whatever is missing', () => {
    const run = began(open);
    routed(run, 'factual');
    run.planned(1, [expert('x1', 'Answers')], oneCall);
    run.answered('x1', 'It froze over.');
    expect(
      run.outputs.filter((event): event is TaskDispatched => event.type === 'TaskDispatched').map(({ data }) => data.capability),
    ).not.toContain('judge.gap');
    if (!run.completed()) run.composed('It froze over.');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D6' });
  });

  it('re-plans as often after the router was asked as without it', () => {
    const run = began(open);
    routed(run, null);
    run.planned(1, [expert('x1', 'Answers')], oneCall);
    run.answered('x1', 'It froze over.');
    run.judged('needs_more_info', 'for how long');
    expect(run.state).toMatchObject({ replans: 1, awaiting: { epoch: 2 } });
    expect(run.outputs.filter((event): event is GapDetected => event.type === 'GapDetected').at(-1)!.data).toMatchObject({
      iteration: 1,
      max: 3,
      gap: 'for how long',
    });
  });
});

describe('the words of a question', () => {
  it.each([
    'Write a short description about the given movie or series.',
    'Tell me whether the behaviour is ethical or not.',
    "Wow, that's better than I thought. What are common treatments?",
    `Rewrite this text: ${'Ferries are better than bridges. '.repeat(12)}`,
  ])('are no sure sign of a comparison in "%s"', (text) => expect(readClass(text)).not.toEqual({ class: 'comparative', sure: true }));

  it.each(['Is the Gull Bridge or the Harbour Bridge older?', 'Compare the two bridges. Explain the difference.'])(
    'are a sure sign of one in "%s"',
    (text) => expect(readClass(text)).toEqual({ class: 'comparative', sure: true }),
  );

  it('are read without an exception, and in time, whatever they are', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => typeof readClass(text).sure === 'boolean'));
    const text = 'which of or between and '.repeat(2_000);
    expect(leastProcessorMs(2_000, () => void readClass(text))).toBeLessThan(2_000);
  });
});

describe('the reply of the router', () => {
  it.each([
    ['{"class": "deep dive"}', 'deep_dive'],
    ['```json\n{"query_type": "COMPARATIVE",}\n```', 'comparative'],
    ['I would say: exploratory.', 'exploratory'],
    ['factual or comparative', null],
    ['', null],
    ['{"class": 3}', null],
  ])('%s', (reply, expected) => {
    const reading = readRoute(reply);
    expect('output' in reading ? reading.output.content['class'] : null).toBe(expected);
  });
});
