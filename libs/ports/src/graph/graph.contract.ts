import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SynthesisWrite } from './graph.js';
import type { GraphUnderTest, GraphWorld } from './graph-world.js';
import { describeExploring } from './explore.contract.js';
import { describeForgetting } from './forgetting.contract.js';
import { describeProvenance } from './provenance.contract.js';
import { describeRetrieval } from './retrieval.contract.js';
import { describeSameAnswers } from './same-answers.contract.js';
import { describeTriples } from './triples.contract.js';

const write = (more: Partial<Omit<SynthesisWrite, 'insight'>> & { summary?: string; entities?: string[] } = {}): SynthesisWrite => {
  const { summary = 'Copper conducts better than iron.', entities = ['Copper', 'Iron'], ...rest } = more;
  return {
    tenant: 'acme',
    runId: 'run_00000001',
    insight: { summary, entities, insight_type: 'comparison' },
    domain: 'materials',
    confidence: 0.75,
    at: 1_700_000_000_000,
    ...rest,
  };
};

const idOf = (summary: string): string => createHash('sha256').update(summary).digest('hex').slice(0, 16);

/** Every promise of `KnowledgeGraph`; each test gets a new, empty graph. */
export function describeKnowledgeGraph(name: string, { open }: GraphUnderTest): void {
  describe(`${name} is a knowledge graph that`, () => {
    let world: GraphWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.dispose());
    const about = (entities: readonly string[], more: { tenant?: string; limit?: number } = {}) =>
      world.graph.synthesesAbout({ tenant: 'acme', limit: 10, entities, ...more });

    it('writes a synthesis with its links, and every process reads it', async () => {
      const { id, created } = await world.graph.addSynthesis(write());
      expect([id, created]).toEqual([idOf('Copper conducts better than iron.'), true]);
      const other = await world.another();
      expect(await other.synthesesAbout({ tenant: 'acme', entities: ['Iron'], limit: 10 })).toEqual([
        {
          id,
          text: 'Copper conducts better than iron.',
          insightType: 'comparison',
          domain: 'materials',
          confidence: 0.75,
          entities: ['Copper', 'Iron'],
          runs: ['run_00000001'],
        },
      ]);
    });

    it('changes nothing when the same run writes again', async () => {
      const { id } = await world.graph.addSynthesis(write());
      const before = await about(['Copper']);
      expect(await world.graph.addSynthesis(write())).toEqual({ id, created: false });
      expect(await about(['Copper'])).toEqual(before);
    });

    it('keeps the first version of what a run wrote if it arrives again with other words', async () => {
      const { id } = await world.graph.addSynthesis(write());
      expect(await world.graph.addSynthesis(write({ summary: 'Iron rusts.', entities: ['Rust'] }))).toEqual({ id, created: false });
      expect(await about(['Rust'])).toEqual([]);
    });

    it('keeps one node for the same summary of two runs, names both, and leaves text and links as they were', async () => {
      const { id } = await world.graph.addSynthesis(write());
      const again = await world.graph.addSynthesis(write({ runId: 'run_00000002', entities: ['Gold'], domain: 'other', confidence: 0.1 }));
      expect(again).toEqual({ id, created: false });
      expect(await about(['copper'])).toMatchObject([
        { id, domain: 'materials', confidence: 0.75, entities: ['Copper', 'Iron'], runs: ['run_00000001', 'run_00000002'] },
      ]);
      expect(await about(['Gold'])).toEqual([]);
    });

    it('writes one node when the same runs write at the same time', async () => {
      const other = await world.another();
      const writes = Array.from({ length: 8 }, (_, n) =>
        (n % 2 ? world.graph : other).addSynthesis(write({ runId: `run_0000000${n % 4}` })),
      );
      const answers = await Promise.all(writes);
      expect(answers.filter(({ created }) => created)).toHaveLength(1);
      const nodes = await about(['Copper']);
      expect(nodes).toHaveLength(1);
      expect(nodes[0]!.runs).toEqual(['run_00000000', 'run_00000001', 'run_00000002', 'run_00000003']);
    });

    it('finds entities by their normal form: width, case and white space do not matter', async () => {
      await world.graph.addSynthesis(write({ entities: ['  Max   Planck '] }));
      for (const name of ['max planck', 'MAX PLANCK', 'Ｍａｘ\u00a0Planck']) expect(await about([name])).toHaveLength(1);
      for (const name of ['planck', 'max', '', 'max planc']) expect(await about([name])).toEqual([]);
    });

    it('returns a node once, even if several of its entities are requested', async () => {
      await world.graph.addSynthesis(write());
      expect(await about(['copper', 'iron', 'COPPER'])).toHaveLength(1);
      expect(await about([])).toEqual([]);
    });

    it('returns the newest first and no more than requested', async () => {
      for (const n of [2, 0, 1]) {
        await world.graph.addSynthesis(write({ runId: `run_0000001${n}`, summary: `Copper fact ${n}.`, at: 1_700_000_000_000 + n }));
      }
      const texts = async (limit: number) => (await about(['Copper'], { limit })).map(({ text }) => text);
      expect(await texts(10)).toEqual(['Copper fact 2.', 'Copper fact 1.', 'Copper fact 0.']);
      expect(await texts(2)).toEqual(['Copper fact 2.', 'Copper fact 1.']);
    });

    it('never shows one tenant what another one learned, although ids and names are the same', async () => {
      await world.graph.addSynthesis(write({ tenant: 'acme' }));
      expect(await about(['Copper'], { tenant: 'zeta' })).toEqual([]);
      expect(await world.graph.addSynthesis(write({ tenant: 'zeta', runId: 'run_00000009' }))).toMatchObject({ created: true });
      expect(await about(['Copper'], { tenant: 'zeta' })).toMatchObject([{ runs: ['run_00000009'] }]);
      expect(await about(['Copper'])).toMatchObject([{ runs: ['run_00000001'] }]);
      expect(await about(['Copper'], { tenant: '' })).toEqual([]);
    });

    it('takes hostile words as words', async () => {
      const summary = `'); DROP TABLE x; -- "\\ } ) RETURN n \u0000 $tenant {id: 1} 😀`;
      const entities = [`O'Brien"; MATCH (n) DETACH DELETE n //`, '__proto__', '$tenant', '😀'];
      await world.graph.addSynthesis(write());
      await world.graph.addSynthesis(write({ runId: 'run_00000003', summary: summary.replace('\u0000', ''), entities }));
      for (const entity of entities) expect(await about([entity])).toMatchObject([{ text: summary.replace('\u0000', '') }]);
      expect(await about(['Copper'])).toHaveLength(1);
    });

    it('keeps a synthesis without entities, which nothing finds yet', async () => {
      expect(await world.graph.addSynthesis(write({ entities: [] }))).toMatchObject({ created: true });
      expect(await world.graph.addSynthesis(write({ runId: 'run_00000002', entities: [] }))).toMatchObject({ created: false });
    });

    it('is healthy while it is open, and says GRAPH_UNAVAILABLE afterwards', async () => {
      const other = await world.another();
      expect(await other.health()).toBeNull();
      await other.close();
      await other.close();
      expect(await other.health()).toEqual(expect.any(String));
      await expect(other.addSynthesis(write())).rejects.toMatchObject({ code: 'GRAPH_UNAVAILABLE' });
      await expect(other.synthesesAbout({ tenant: 'acme', entities: ['x'], limit: 1 })).rejects.toMatchObject({
        code: 'GRAPH_UNAVAILABLE',
      });
      expect(await world.graph.health()).toBeNull();
    });

    it('leaves out a name that is invalid, such as a whole text', async () => {
      expect(await world.graph.addSynthesis(write({ entities: ['Copper', 'n'.repeat(10_240), ' \u0000 '] }))).toMatchObject({
        created: true,
      });
      expect(await about(['Copper'])).toMatchObject([{ entities: ['Copper'] }]);
    });

    describeProvenance({ open });
    describeForgetting({ open });
    describeTriples({ open });
    describeRetrieval({ open });
    describeExploring({ open });
  });
  describe(`${name} as a knowledge graph`, () => describeSameAnswers({ open }));
}
