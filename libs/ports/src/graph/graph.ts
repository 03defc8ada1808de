import type { Insight, RelationType, Source } from '@conclave/contracts';
import type { EntityNode, EntityQuery, NeighbourQuery, Neighbourhood, SynthesisNode } from './nodes.js';
import type { TripleSource } from './trust.js';

/**
 * Knowledge graph. Adapters: Neo4j, embedded SQLite. Everything is scoped by tenant; every write is idempotent. Every method throws Failure
 * GRAPH_UNAVAILABLE.
 */
export interface KnowledgeGraph {
  /**
   * Writes `(:Synthesis {id, text, insight_type, domain, confidence})-[:RELATED_TO]->(:Entity)` for one run and creates missing entities.
   * Synthesis id = first 16 hex digits of SHA-256 of the summary; repeating a run or summary changes nothing.
   */
  addSynthesis(synthesis: SynthesisWrite): Promise<{ readonly id: string; readonly created: boolean }>;
  /** Synthesis nodes of the tenant linked to any of these entity names (normalised), newest first, without flagged ones. */
  synthesesAbout(query: {
    readonly tenant: string;
    readonly entities: readonly string[];
    readonly limit: number;
  }): Promise<readonly SynthesisNode[]>;
  /**
   * One synthesis, flagged or not, with everything it was learned from, by its id or by a run that taught it. Null if the tenant has none.
   */
  synthesis(query: { readonly tenant: string; readonly by: SynthesisKey }): Promise<SynthesisRecord | null>;
  /**
   * Writes entities, then relations. A relation that another run already stated is confirmed; one that contradicts known relations goes to
   * the quarantine; one without two names, with an unknown type or without confidence, or that a person rejected, is refused and counted.
   * Repeating an event returns the same answer and changes nothing.
   */
  addTriples(write: TripleWrite): Promise<TriplesAdded>;
  /** Contradictions of the tenant, newest first. */
  quarantine(query: {
    readonly tenant: string;
    readonly limit: number;
    /** Default `open`. */
    readonly state?: QuarantinedTriple['state'];
  }): Promise<readonly QuarantinedTriple[]>;
  /**
   * Accepting makes the entry a verified relation and flags the relations it contradicts; rejecting refuses it from then on. The first
   * decision is final. Returns the entry as it then is, null if the tenant has none with this id.
   */
  decideQuarantine(decision: {
    readonly tenant: string;
    readonly id: string;
    readonly accept: boolean;
    readonly actor: string;
    readonly at: number;
  }): Promise<QuarantinedTriple | null>;
  /**
   * Rates a run: applies to every relation and synthesis it taught or will teach. Idempotent by event id. Returns how many of them the run
   * has taught so far.
   */
  adjustTrust(rating: {
    readonly tenant: string;
    readonly runId: string;
    readonly eventId: string;
    readonly positive: boolean;
  }): Promise<{ readonly relations: number; readonly syntheses: number }>;
  /**
   * Removes what only this run has taught, its ratings, and entities that nothing mentions any longer. What other runs stated too stays,
   * without this run among its origins. Events of a run are those whose ids begin with `<run>/`. A repeat changes nothing. Returns the
   * number of removed relations and syntheses.
   */
  forget(run: { readonly tenant: string; readonly runId: string }): Promise<{ readonly relations: number; readonly syntheses: number }>;
  /** Removes what was forgotten from files, as `scrub` of `Vectors` does. */
  scrub?(): Promise<void>;
  /**
   * Entities whose name or alias is one of the terms, or half of whose words occur in them; relations up to two hops away in both
   * directions; and the syntheses linked to any entity reached. Ranked by trust x relevance; nothing flagged.
   */
  retrieve(query: GraphQuery): Promise<GraphContext>;
  /** Entities by normal form, in code unit order; a page of them. */
  entities(query: EntityQuery): Promise<readonly EntityNode[]>;
  /** An entity with its relations and syntheses; null if the tenant has none of this name. */
  neighbours(query: NeighbourQuery): Promise<Neighbourhood | null>;
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
  /** The run's answer, of which the first `longestOriginAnswer` characters are kept, and its sources. */
  readonly answer?: string | null;
  readonly sources?: readonly Source[];
}
export type SynthesisKey = { readonly id: string } | { readonly runId: string };

/** Characters of an answer kept beside the insight it taught: enough to judge it without the run. */
export const longestOriginAnswer = 2_000;
/** Maximum number of sources kept beside it. */
export const mostOriginSources = 32;

/** One run that taught a synthesis. */
export interface SynthesisOrigin {
  readonly runId: string;
  /** When the run was completed, milliseconds since 1970; null if unknown. */
  readonly at: number | null;
  readonly answer: string | null;
  readonly sources: readonly Source[];
}
export interface SynthesisRecord extends SynthesisNode {
  /** 0 to 1, ratings included. */
  readonly trust: number;
  /** Rated badly: excluded from every retrieval. */
  readonly flagged: boolean;
  /** By time, then by run. */
  readonly origins: readonly SynthesisOrigin[];
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
  /** Unique within the tenant; the same triple always has the same id. */
  readonly id: string;
  readonly source: TripleSource;
  readonly domain: string;
  /**
   * `opposed`: such as TREATS beside CAUSES; `inverse`: a one-way relation reversed; `replaced`: another object of a functional relation.
   */
  readonly reason: 'opposed' | 'inverse' | 'replaced';
  /** Sentences it contradicts. */
  readonly contradicts: readonly string[];
  /** Runs that stated it, the first one first. */
  readonly runs: readonly string[];
  readonly at: number;
  readonly state: 'open' | 'accepted' | 'rejected';
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
}

export interface GraphQuery {
  readonly tenant: string;
  /** Names as written in the question; only the first 32 are used. */
  readonly terms: readonly string[];
  /** Relations and syntheses of these domains weigh 1.25 times. */
  readonly categories: readonly string[];
  /** Maximum number of relations, and of syntheses. */
  readonly limit: number;
  /** Maximum total length of all sentences and texts. */
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
  /** 1: touches an entity of the question; 2: one step further. */
  readonly hops: number;
}
export interface RetrievedSynthesis extends SynthesisNode {
  readonly trust: number;
  /** Steps from an entity of the question to the nearest entity it is linked to, 0 to 2. */
  readonly hops: number;
}

export interface GraphStats {
  readonly entities: number;
  /** Including flagged ones. */
  readonly relations: number;
  readonly flagged: number;
  readonly syntheses: number;
  /** Open contradictions. */
  readonly quarantined: number;
}
