import { describe, expect, it } from '@jest/globals';
import { contextText, filteredFacts, graphFacts } from './graph-facts.js';

const at = { taskId: 'run_00000001/0/g1', epoch: 0 };

describe('facts of the graph', () => {
  it('are sentences with their trust; insights come first and are marked as earlier', () => {
    const facts = graphFacts(
      {
        relations: [{ subject: 'Aspirin', relation: 'TREATS', object: 'Headache', trust: 0.48 }],
        syntheses: [
          { id: 'c1', text: 'Copper conducts\nbetter than iron.', trust: 0.9, runs: Array.from({ length: 20 }, (_, n) => `run_${n}`) },
        ],
      },
      at,
    );
    expect(facts).toEqual([
      {
        text: 'Copper conducts better than iron.',
        source: {
          kind: 'graph',
          title: 'Earlier insight: Copper conducts better than iron.',
          url: null,
          insight: { id: 'c1', runs: Array.from({ length: 8 }, (_, n) => `run_${n}`) },
        },
        confidence: 0.9,
        ...at,
      },
      { text: 'Aspirin treats Headache.', source: { kind: 'graph', title: 'Aspirin TREATS Headache', url: null }, confidence: 0.48, ...at },
    ]);
    expect(contextText(facts)).toBe('- Copper conducts better than iron. (trust 0.9)\n- Aspirin treats Headache. (trust 0.48)');
  });

  it('have short titles, however long the names are', () => {
    const [fact] = graphFacts(
      { relations: [{ subject: 'x'.repeat(200), relation: 'IS_A', object: 'y'.repeat(200), trust: 1 }], syntheses: [] },
      at,
    );
    expect(fact!.source.title).toHaveLength(120);
  });

  it('found by a lookup belong to the task, and stay within the limit', () => {
    const fact = (text: string) => ({
      text,
      source: { kind: 'memory' as const, title: 't', url: null },
      taskId: 'other',
      epoch: 9,
      confidence: null,
    });
    expect(filteredFacts([fact('one'), fact('x'.repeat(99)), fact('two')], 9, at)).toEqual([
      { ...fact('one'), ...at },
      { ...fact('two'), ...at },
    ]);
    expect(contextText([fact('one')])).toBe('- [Domain-Filtered Memory] one');
  });
});
