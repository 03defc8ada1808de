import type { Insight, RelationType, Source } from '@conclave/contracts';
import type { TripleSource } from './trust.js';

/** Knowledge graph. Adapters: Neo4j, embedded SQLite. Everything is scoped by tenant; every write is idempotent. All throw Failure GRAPH_UNAVAILABLE. */
export interface KnowledgeGraph {
  /**
   * Writes `(:Synthesis {id, text, insight_type, domain, confidence})-[:RELATED_TO]->(:Entity)` for one run; entities that are not
   * there are made. Synthesis id = first 16 hex digits of SHA-256 of the summary; the same run or summary twice changes nothing.
   */
  addSynthesis(synthesis: SynthesisWrite): Promise<{ readonly id: string; readonly created: boolean }>;
  /** Synthesis nodes of the tenant linked to any of these entity names (normalised), newest first; flagged ones are left out. */
  synthesesAbout(query: {
    readonly tenant: string;
    readonly entities: readonly string[];
    readonly limit: number;
  }): Promise<readonly SynthesisNode[]>;
  /**
   * One synthesis with everything it was learned from, by its id or by a run that taught it; flagged ones too. Null where the
   * tenant has none.
   */
  synthesis(query: { readonly tenant: string; readonly by: SynthesisKey }): Promise<SynthesisRecord | null>;
  /**
   * Entities first, then relations. A relation that another run has said already is confirmed; one that contradicts what is known
   * waits in the quarantine; one without two names, with an unknown type or no confidence, or that a person has rejected, is refused
   * and counted. The same event again gives the same answer and changes nothing.
   */
  addTriples(write: TripleWrite): Promise<TriplesAdded>;
  /** Contradictions of the tenant, the newest first. */
  quarantine(query: {
    readonly tenant: string;
    readonly limit: number;
    /** Default `open`. */
    readonly state?: QuarantinedTriple['state'];
  }): Promise<readonly QuarantinedTriple[]>;
  /**
   * Accepted: it becomes a verified relation, and the relations it contradicts are flagged. Rejected: it is refused from then on.
   * The first decision stands; gives the entry as it stands, null where the tenant has none of this id.
   */
  decideQuarantine(decision: {
    readonly tenant: string;
    readonly id: string;
    readonly accept: boolean;
    readonly actor: string;
    readonly at: number;
  }): Promise<QuarantinedTriple | null>;
  /**
   * A rating of a run, for every relation and synthesis it taught, also for what it teaches later. Idempotent by event id.
   * Gives how many of them the run has taught so far.
   */
  adjustTrust(rating: {
    readonly tenant: string;
    readonly runId: string;
    readonly eventId: string;
    readonly positive: boolean;
  }): Promise<{ readonly relations: number; readonly syntheses: number }>;
  /**
   * Entities whose name or alias is one of the terms, or half of whose words occur in them; what is said about them up to two hops
   * away in both directions; and the syntheses linked to any entity reached. Ranked by trust x relevance; nothing flagged.
   */
  retrieve(query: GraphQuery): Promise<GraphContext>;
  stats(tenant: string): Promise<GraphStats>;
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
  /** What the run answered, whose first `longestOriginAnswer` characters are kept, and what it answered from. */
  readonly answer?: string | null;
  readonly sources?: readonly Source[];
}
export type SynthesisKey = { readonly id: string } | { readonly runId: string };

/** Characters of an answer that are kept beside the insight it taught: enough to judge it without its run. */
export const longestOriginAnswer = 2_000;
/** Sources that are kept beside it. */
export const mostOriginSources = 32;

/** One run that taught a synthesis. */
export interface SynthesisOrigin {
  readonly runId: string;
  /** When the run was completed, milliseconds since 1970; null where that was not kept. */
  readonly at: number | null;
  readonly answer: string | null;
  readonly sources: readonly Source[];
}
export interface SynthesisRecord extends SynthesisNode {
  /** 0 to 1, ratings included. */
  readonly trust: number;
  /** Rated badly: no retrieval gives it. */
  readonly flagged: boolean;
  /** By time, then by run. */
  readonly origins: readonly SynthesisOrigin[];
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

export interface Triple {
  readonly subject: string;
  /** Kind of thing in one word, such as `drug`; may be empty. */
  readonly subjectType: string;
  readonly relation: RelationType;
  readonly object: string;
  readonly objectType: string;
  /** 0 to 1. */
  readonly confidence: number;
}
export interface TripleWrite {
  readonly tenant: string;
  readonly eventId: string;
  readonly runId: string;
  readonly source: TripleSource;
  readonly triples: readonly Triple[];
  readonly domain: string;
  readonly at: number;
}
export interface TriplesAdded {
  readonly added: number;
  readonly confirmed: number;
  readonly refused: number;
  readonly quarantined: readonly QuarantinedTriple[];
}

export interface QuarantinedTriple extends Triple {
  /** Of the tenant; the same triple always has the same id. */
  readonly id: string;
  readonly source: TripleSource;
  readonly domain: string;
  /** `opposed`: such as TREATS beside CAUSES; `inverse`: a one-way relation the other way round; `replaced`: another object of a functional relation. */
  readonly reason: 'opposed' | 'inverse' | 'replaced';
  /** Sentences it contradicts. */
  readonly contradicts: readonly string[];
  /** Runs that said so, the first one first. */
  readonly runs: readonly string[];
  readonly at: number;
  readonly state: 'open' | 'accepted' | 'rejected';
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
}

export interface GraphQuery {
  readonly tenant: string;
  /** Names as the question has them; the first 32 count. */
  readonly terms: readonly string[];
  /** Relations and syntheses of these domains weigh 1.25 times. */
  readonly categories: readonly string[];
  /** Relations, and syntheses, at most. */
  readonly limit: number;
  /** Bound of all sentences and texts together. */
  readonly maxCharacters: number;
}
export interface GraphContext {
  /** Entities of the question, then those of the relations. */
  readonly entities: readonly { readonly name: string; readonly type: string; readonly hops: number }[];
  readonly relations: readonly RetrievedRelation[];
  readonly syntheses: readonly RetrievedSynthesis[];
}
export interface RetrievedRelation {
  readonly subject: string;
  readonly relation: RelationType;
  readonly object: string;
  /** 0 to 1. */
  readonly trust: number;
  readonly source: TripleSource;
  /** 1: it touches an entity of the question; 2: one step further. */
  readonly hops: number;
}
export interface RetrievedSynthesis extends SynthesisNode {
  readonly trust: number;
  /** Steps from an entity of the question to the nearest one it is linked to, 0 to 2. */
  readonly hops: number;
}

export interface GraphStats {
  readonly entities: number;
  /** Flagged ones too. */
  readonly relations: number;
  readonly flagged: number;
  readonly syntheses: number;
  /** Open contradictions. */
  readonly quarantined: number;
}
