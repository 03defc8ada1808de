import { expect, it } from '@jest/globals';
import { relationTypes } from '@conclave/contracts';
import type { GraphUnderTest } from './graph-world.js';
import type { GraphContext, GraphStats, KnowledgeGraph, QuarantinedTriple, SynthesisRecord, Triple } from './graph.js';
import { MemoryGraphStore } from './memory-graph.js';
import { sourceWeights, type TripleSource } from './trust.js';

/** Reproducible pseudo-random numbers (linear congruential, Numerical Recipes). */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const firsts = ['Copper', 'Iron', 'Corin', 'Aurora', 'Ärzte', '量子', 'North', 'Old', 'Steel', 'Blue'];
const seconds = ['Bridge', 'Wire', 'Bridges', '😀', '(CB)'];

/** A history of 24 runs: triples, insights, ratings and decisions that often collide, with many ties. */
async function live(graph: KnowledgeGraph): Promise<{ readonly answers: readonly unknown[] }> {
  const next = sequence(7);
  const pick = <T>(all: readonly T[]): T => all[next(all.length)]!;
  const name = (): string => (next(3) === 0 ? pick(firsts) : `${pick(firsts)} ${pick(seconds)}`);
  const answers: unknown[] = [];
  for (let n = 0; n < 24; n += 1) {
    const run = {
      tenant: n % 6 === 5 ? 'zeta' : 'acme',
      runId: `run_${next(18)}`,
      domain: pick(['general', 'law', 'medicine']),
      at: 1_000 + next(4),
    };
    const capital = (): Triple => ({
      subject: pick(firsts),
      subjectType: '',
      relation: 'HAS_CAPITAL',
      object: pick(firsts),
      objectType: '',
      confidence: 0.5,
    });
    const triples = Array.from({ length: 6 }, (): Triple => ({
      subject: name(),
      subjectType: pick(['', 'thing', 'place']),
      relation: pick(n % 4 ? ['PART_OF', 'TREATS', 'CAUSES', 'HAS_CAPITAL', 'FOUNDED_ON'] : relationTypes),
      object: name(),
      objectType: '',
      confidence: (1 + next(4)) / 4,
    }));
    answers.push(
      await graph.addTriples({
        ...run,
        eventId: `event_${n}`,
        source: pick(Object.keys(sourceWeights) as TripleSource[]),
        triples: [...triples, capital(), capital()],
      }),
    );
    const insight = { summary: `${name()} and ${name()} agree.`, entities: [name(), name()], insight_type: 'synthesis' as const };
    answers.push(await graph.addSynthesis({ ...run, insight, answer: `${insight.summary} ${n}`, confidence: (1 + next(3)) / 4 }));
    if (n % 3 === 0)
      answers.push(await graph.adjustTrust({ tenant: 'acme', runId: `run_${next(18)}`, eventId: `rating_${n}`, positive: next(3) > 0 }));
    if (n % 4 !== 3) continue;
    for (const { id } of await graph.quarantine({ tenant: 'acme', limit: 1 }))
      answers.push(await graph.decideQuarantine({ tenant: 'acme', id, accept: next(2) === 0, actor: 'ann', at: n }));
  }
  return { answers };
}

interface Seen {
  readonly contexts: readonly GraphContext[];
  readonly waiting: readonly QuarantinedTriple[];
  readonly learned: readonly (SynthesisRecord | null)[];
  readonly stats: readonly GraphStats[];
}

async function look(graph: KnowledgeGraph): Promise<Seen> {
  const ask = (tenant: string, terms: readonly string[], limit: number, maxCharacters: number) =>
    graph.retrieve({ tenant, terms, categories: ['law'], limit, maxCharacters });
  return {
    contexts: [
      ...(await Promise.all(firsts.map((term) => ask('acme', [term], 100, 100_000)))),
      await ask('acme', ['copper bridge', 'Ärzte'], 7, 400),
      await ask('acme', ['bridges', 'cb', '😀'], 5, 100_000),
      await ask('zeta', ['Copper', 'Iron', 'Steel'], 100, 100_000),
    ],
    waiting: await graph.quarantine({ tenant: 'acme', limit: 100 }),
    learned: await Promise.all(Array.from({ length: 18 }, (_, n) => graph.synthesis({ tenant: 'acme', by: { runId: `run_${n}` } }))),
    stats: [await graph.stats('acme'), await graph.stats('zeta')],
  };
}

/** The whole promise in one: after the same history every adapter returns what the in-memory graph returns, in the same order. */
export function describeSameAnswers({ open }: GraphUnderTest): void {
  it('returns what every other adapter returns after the same history, in the same order', async () => {
    const world = await open();
    try {
      const oracle = new MemoryGraphStore().connect();
      expect(await live(world.graph)).toEqual(await live(oracle));
      const seen = await look(world.graph);
      expect(seen).toEqual(await look(oracle));
      // A history in which nothing is found, contradicted or flagged would prove nothing.
      expect(Math.min(...seen.contexts.map(({ relations }) => relations.length))).toBeGreaterThan(2);
      expect(seen.contexts.flatMap(({ syntheses }) => syntheses).length).toBeGreaterThan(20);
      expect(seen.learned.filter((one) => one !== null).length).toBeGreaterThan(5);
      expect(seen.waiting.length).toBeGreaterThan(3);
      expect(seen.stats[0]!.flagged).toBeGreaterThan(3);
    } finally {
      await world.dispose();
    }
  });
}
