import type { RelationType } from '@conclave/contracts';
import type { TripleEvidence, TripleSource } from './trust.js';

/** A relation as every adapter stores it. `subject` and `object` are normal forms. */
export interface StoredRelation extends TripleEvidence {
  readonly id: string;
  readonly subject: string;
  readonly relation: RelationType;
  readonly object: string;
  readonly subjectName: string;
  readonly objectName: string;
  /** Confidence of the first run that stated it. */
  readonly confidence: number;
  readonly source: TripleSource;
  readonly domain: string;
  readonly runId: string;
  readonly trust: number;
  readonly flagged: boolean;
  /** A person accepted it, or it has more good ratings than bad ones. */
  readonly verified: boolean;
  readonly accepted: boolean;
  /** A person accepted a relation that contradicts it. */
  readonly superseded: boolean;
  /** Rises with every change, from 1. */
  readonly version: number;
  readonly at: number;
}
export interface NamedRelation extends StoredRelation {
  readonly subjectType: string;
  readonly objectType: string;
}

export interface SynthesisNode {
  readonly id: string;
  readonly text: string;
  readonly insightType: string;
  readonly domain: string;
  readonly confidence: number;
  readonly entities: readonly string[];
  /** Runs that taught it. */
  readonly runs: readonly string[];
}
export interface LinkedSynthesis extends SynthesisNode {
  readonly trust: number;
  /** Normal forms of its entities. */
  readonly about: readonly string[];
}

/** A page of entities, by name. */
export interface EntityQuery {
  readonly tenant: string;
  /** Part of the normal form; empty for all. */
  readonly search: string;
  /** Normal form after which the page begins; empty for the first one. */
  readonly after: string;
  readonly limit: number;
}
export interface EntityNode {
  readonly normal: string;
  readonly name: string;
  /** Kind of thing in one word; may be empty. */
  readonly type: string;
}
export interface NeighbourQuery {
  readonly tenant: string;
  /** A name or alias. */
  readonly entity: string;
  readonly offset: number;
  readonly limit: number;
}
export interface Neighbourhood {
  readonly entity: EntityNode;
  /** Unflagged, the most trusted first. */
  readonly relations: readonly NamedRelation[];
  /** Unflagged, newest first. */
  readonly syntheses: readonly LinkedSynthesis[];
  readonly more: boolean;
}
