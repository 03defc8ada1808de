import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import { normaliseEntity } from './entity-name.js';
import { neighboursThrough } from './explore.js';
import { retrieveThrough } from './graph-context.js';
import type { KnowledgeGraph, SynthesisWrite } from './graph.js';
import { MemoryKnowledge } from './memory-knowledge.js';
import type { SynthesisNode } from './nodes.js';

/** The part of an in-memory knowledge graph that outlives a process. */
export class MemoryGraphStore {
  private readonly tenants = new Map<string, MemoryKnowledge>();
  private readonly learnedByRun = new Map<string, string>();

  /** The graph as another process sees it. */
  connect(): KnowledgeGraph {
    let open = true;
    const of = (tenant: string): MemoryKnowledge => {
      if (!open) throw new Failure('GRAPH_UNAVAILABLE', 'It is closed.');
      const known = this.tenants.get(tenant) ?? new MemoryKnowledge();
      this.tenants.set(tenant, known);
      return known;
    };
    return {
      addSynthesis: async (write) => this.add(of(write.tenant), write),
      synthesesAbout: async ({ tenant, entities, limit }) => {
        const wanted = new Set(entities.map(normaliseEntity));
        const all = of(tenant).linked((normal) => wanted.has(normal));
        return all.slice(0, limit).map(({ trust: _trust, about: _about, ...node }): SynthesisNode => node);
      },
      synthesis: async ({ tenant, by }) => of(tenant).synthesis(by),
      addTriples: async (write) => of(write.tenant).addTriples(write),
      quarantine: async ({ tenant, limit, state = 'open' }) => of(tenant).quarantine(state).slice(0, limit),
      decideQuarantine: async (decision) => of(decision.tenant).decide(decision),
      adjustTrust: async (rating) => of(rating.tenant).rate(rating),
      forget: async ({ tenant, runId }) => {
        this.learnedByRun.delete(`${tenant} ${runId}`);
        return of(tenant).forget(runId);
      },
      retrieve: async (query) => retrieveThrough(of(query.tenant).reading(), query),
      entities: async (query) => of(query.tenant).page(query),
      neighbours: async (query) => neighboursThrough(of(query.tenant).reading(), { ...query, entity: normaliseEntity(query.entity) }),
      stats: async (tenant) => of(tenant).stats(),
      health: async () => (open ? null : 'The knowledge graph is closed.'),
      close: async () => void (open = false),
    };
  }

  /** Runs whose synthesis was written, as `<tenant> <run>`. */
  learned(): readonly string[] {
    return [...this.learnedByRun.keys()];
  }

  private add(knowledge: MemoryKnowledge, write: SynthesisWrite): { id: string; created: boolean } {
    const { tenant, runId, insight } = write;
    const known = this.learnedByRun.get(`${tenant} ${runId}`);
    if (known) return { id: known, created: false };
    const id = createHash('sha256').update(insight.summary).digest('hex').slice(0, 16);
    this.learnedByRun.set(`${tenant} ${runId}`, id);
    return { id, created: knowledge.addSynthesis(id, write) };
  }
}
