import type { Insight } from '@conclave/contracts';

/** Knowledge graph. Adapters: Neo4j, embedded SQLite. Everything is scoped by tenant; every write is idempotent. */
export interface KnowledgeGraph {
  /**
   * Writes `(:Synthesis {id, text, insight_type, domain, confidence})-[:RELATED_TO]->(:Entity)` for one run.
   * Synthesis id = first 16 hex digits of SHA-256 of the summary; the same run or summary twice changes nothing.
   * Throws Failure GRAPH_UNAVAILABLE.
   */
  addSynthesis(synthesis: SynthesisWrite): Promise<{ readonly id: string; readonly created: boolean }>;
  /** Synthesis nodes of the tenant linked to any of these entity names (normalised), newest first. */
  synthesesAbout(query: {
    readonly tenant: string;
    readonly entities: readonly string[];
    readonly limit: number;
  }): Promise<readonly SynthesisNode[]>;
  health(): Promise<string | null>;
  close(): Promise<void>;
}
export interface SynthesisWrite {
  readonly tenant: string;
  readonly runId: string;
  readonly insight: Insight;
  readonly domain: string;
  readonly confidence: number;
  readonly at: number;
}
export interface SynthesisNode {
  readonly id: string;
  readonly text: string;
  readonly insightType: string;
  readonly domain: string;
  readonly confidence: number;
  readonly entities: readonly string[];
  /** Runs it was learned from. */
  readonly runs: readonly string[];
}
/** Same normal form in every adapter: NFKC, trimmed, inner white space folded, lower case. */
export const normaliseEntity = (name: string): string => name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
