import {
  byTime,
  isFlagged,
  sourcesIn,
  synthesisTrust,
  type EntityCandidate,
  type GraphReading,
  type LinkedSynthesis,
  type SynthesisRecord,
} from '@conclave/ports';
import neo4j from 'neo4j-driver';
import { relationOf, type TenantTransaction } from './knowledge.js';
import * as statements from './statements.js';

export interface SynthesisRow {
  readonly id: string;
  readonly text: string;
  readonly insightType: string;
  readonly domain: string;
  readonly confidence: number;
  readonly good: number;
  readonly bad: number;
  readonly about: readonly { readonly name: string; readonly normal: string }[];
  readonly runs: readonly string[];
}

export interface RecordRow extends SynthesisRow {
  readonly origins: readonly {
    readonly runId: string;
    readonly at: number | null;
    readonly answer: string | null;
    readonly sources: string | null;
  }[];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function synthesisOf({ good, bad, about, ...node }: SynthesisRow): LinkedSynthesis {
  const entities = [...about].sort((a, b) => compare(a.normal, b.normal));
  return {
    ...node,
    entities: entities.map(({ name }) => name),
    about: entities.map(({ normal }) => normal),
    trust: synthesisTrust({ confidence: node.confidence, good, bad }),
  };
}

export function recordOf({ origins, ...row }: RecordRow): SynthesisRecord {
  const { about: _about, ...node } = synthesisOf(row);
  const learned = origins.map(({ sources, ...origin }) => ({ ...origin, sources: sourcesIn(sources) }));
  return { ...node, flagged: isFlagged(row), origins: learned.sort(byTime) };
}

export const readingOf = (at: TenantTransaction): GraphReading => ({
  candidates: ({ exact, words, common, limit }) =>
    at.run<EntityCandidate>(statements.candidates, { exact, words, common: neo4j.int(common), limit: neo4j.int(limit) }),
  around: async (entities, perEntity) =>
    (await at.run<Parameters<typeof relationOf>[0]>(statements.around, { entities, limit: neo4j.int(perEntity) })).map(relationOf),
  syntheses: async (entities, perEntity) =>
    (await at.run<SynthesisRow>(statements.synthesesOfEach, { entities, limit: neo4j.int(perEntity) })).map(synthesisOf),
});
