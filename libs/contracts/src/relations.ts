/** Meaning of a relation of the knowledge graph, and what it excludes. */
export interface RelationSpec {
  /** Words between subject and object in a sentence. */
  readonly says: string;
  /** Relations that cannot be true between the same subject and object together with this one. */
  readonly opposes?: readonly string[];
  /** A subject has one object: another object contradicts it. */
  readonly functional?: true;
  /** It cannot be true in both directions. */
  readonly oneWay?: true;
  /** Subject and object may be swapped: both directions are the same relation. */
  readonly symmetric?: true;
}

/**
 * The allow-list of relation types: 19 of the ontology for domains (medicine, law, technology, requirements of actions), and six that
 * general questions need, four of them functional. A closed list keeps model text out of statements.
 */
export const relations = {
  IS_A: { says: 'is a', oneWay: true },
  PART_OF: { says: 'is part of', oneWay: true },
  TREATS: { says: 'treats', opposes: ['CAUSES', 'CONTRAINDICATES'] },
  CAUSES: { says: 'causes', opposes: ['TREATS'] },
  INTERACTS_WITH: { says: 'interacts with', symmetric: true },
  CONTRAINDICATES: { says: 'contraindicates', opposes: ['TREATS', 'ENABLES_ACTION'] },
  DEFINES: { says: 'defines' },
  REGULATES: { says: 'regulates' },
  USES: { says: 'uses' },
  IMPLEMENTS: { says: 'implements' },
  DEPENDS_ON: { says: 'depends on' },
  EXTENDS: { says: 'extends', oneWay: true },
  RELATED_TO: { says: 'is related to', symmetric: true },
  EQUIVALENT_TO: { says: 'is equivalent to', symmetric: true },
  AFFECTS: { says: 'affects' },
  RUNS: { says: 'runs' },
  NECESSITATES_PRESENCE: { says: 'needs the presence of' },
  DEPENDS_ON_LOCATION: { says: 'depends on the location' },
  ENABLES_ACTION: { says: 'enables', opposes: ['CONTRAINDICATES'] },
  LOCATED_IN: { says: 'is located in', oneWay: true },
  CREATED_BY: { says: 'was created by' },
  HAS_CAPITAL: { says: 'has the capital', functional: true },
  BORN_ON: { says: 'was born on', functional: true },
  DIED_ON: { says: 'died on', functional: true },
  FOUNDED_ON: { says: 'was founded on', functional: true },
} as const satisfies Record<string, RelationSpec>;

export type RelationType = keyof typeof relations;
export const relationTypes = Object.keys(relations) as readonly RelationType[];

export const isRelationType = (text: string): text is RelationType => Object.hasOwn(relations, text);

/** A relation as a sentence, such as `Aspirin treats headache`. */
export const relationSentence = ({ subject, relation, object }: { subject: string; relation: RelationType; object: string }): string =>
  `${subject} ${relations[relation].says} ${object}`;
