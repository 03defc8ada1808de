import { describe, expect, it } from '@jest/globals';
import type { Fact } from '@conclave/contracts';
import type { RunState } from '@conclave/loop';
import { furtherOf } from './further.js';

const fact = (text: string, epoch: number, task: string, kind: Fact['source']['kind'] = 'corpus'): Fact => ({
  text,
  source: { kind, title: `title of ${text}`, url: null },
  taskId: `run/${epoch}/${task}`,
  epoch,
  confidence: null,
});
const run = (facts: readonly Fact[], searchQuestion: string | null = null) =>
  ({
    request: { conversation: [], goal: 'Who?' },
    memory: { goal: 'Who?', searchQuestion, facts, tried: [], userInputs: [] },
  }) as unknown as RunState;
const found = (facts: readonly Fact[], epoch: number) => furtherOf(run(facts), epoch).further?.found.map(({ text }) => text);

describe('the texts from which a search continues', () => {
  it('are empty on the first round, and without a finding that has a source', () => {
    expect(furtherOf(run([fact('a', 0, 'r1')]), 0)).toEqual({});
    expect(furtherOf(run([fact('42', 0, 't1', 'tool'), fact('an opinion', 0, 'x1', 'expert')]), 1)).toEqual({});
  });

  it('are the question and the first findings of the latest round, taken from its tasks in turn', () => {
    const facts = [fact('a1', 0, 'r1'), fact('a2', 0, 'r1'), fact('b1', 0, 'r2'), fact('b2', 0, 'r2')];
    expect(found(facts, 1)).toEqual(['a1', 'b1']);
    expect(found([...facts, fact('c1', 1, 'r1')], 2)).toEqual(['c1']);
    expect(furtherOf(run(facts, 'Who was the founder?'), 1).further).toMatchObject({
      question: 'Who was the founder?',
      found: [{ title: 'title of a1', text: 'a1' }, { title: 'title of b1' }],
    });
  });
});
