import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import { normaliseEntity, type KnowledgeGraph, type SynthesisNode, type SynthesisWrite } from './graph.js';

interface Kept {
  readonly tenant: string;
  readonly write: SynthesisWrite;
  /** Normal form -> name as it was first written. */
  readonly entities: ReadonlyMap<string, string>;
  readonly runs: Set<string>;
}

/** What outlives a process of a knowledge graph in memory. */
export class MemoryGraphStore {
  readonly #syntheses = new Map<string, Kept>();
  readonly #learned = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** The graph as one more process sees it. */
  connect(): KnowledgeGraph {
    let open = true;
    const whileOpen = <T>(work: () => T): T => {
      if (!open) throw new Failure('GRAPH_UNAVAILABLE', 'It is closed.');
      return work();
    };
    return {
      addSynthesis: async (synthesis) => whileOpen(() => this.#add(synthesis)),
      synthesesAbout: async (query) => whileOpen(() => this.#about(query)),
      health: async () => (open ? null : 'The knowledge graph is closed.'),
      close: async () => void (open = false),
    };
  }

  /** Runs that were learned from, as `<tenant> <run>`. */
  learned(): readonly string[] {
    return [...this.#learned.keys()];
  }

  #add(write: SynthesisWrite): { id: string; created: boolean } {
    const { tenant, runId, insight } = write;
    const known = this.#learned.get(`${tenant} ${runId}`);
    if (known) return { id: known, created: false };
    const id = createHash('sha256').update(insight.summary).digest('hex').slice(0, 16);
    this.#learned.set(`${tenant} ${runId}`, id);
    const kept = this.#syntheses.get(`${tenant} ${id}`);
    if (kept) {
      kept.runs.add(runId);
      return { id, created: false };
    }
    const entities = new Map<string, string>();
    for (const name of insight.entities) {
      const normal = normaliseEntity(name);
      if (normal === '') continue;
      const first = this.#names.get(`${tenant} ${normal}`) ?? name.trim();
      this.#names.set(`${tenant} ${normal}`, first);
      entities.set(normal, first);
    }
    this.#syntheses.set(`${tenant} ${id}`, { tenant, write: structuredClone(write), entities, runs: new Set([runId]) });
    return { id, created: true };
  }

  #about({ tenant, entities, limit }: Parameters<KnowledgeGraph['synthesesAbout']>[0]): readonly SynthesisNode[] {
    const wanted = new Set(entities.map(normaliseEntity));
    return [...this.#syntheses]
      .filter(([, kept]) => kept.tenant === tenant && [...kept.entities.keys()].some((name) => wanted.has(name)))
      .sort(([a, one], [b, other]) => other.write.at - one.write.at || (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([key, { write, entities: names, runs }]) => ({
        id: key.slice(key.lastIndexOf(' ') + 1),
        text: write.insight.summary,
        insightType: write.insight.insight_type,
        domain: write.domain,
        confidence: write.confidence,
        entities: [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name),
        runs: [...runs].sort(),
      }));
  }
}
