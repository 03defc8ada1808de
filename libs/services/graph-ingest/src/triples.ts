import { isRelationType, promptMarks, relations, relationTypes, type RelationType, type Source } from '@conclave/contracts';
import { asData, bounded, dataRule, oneLine, sections, type PromptMessage } from '@conclave/strategies';
import { jsonIn } from '@conclave/strategies';

/** What triples are extracted from. */
export interface Learnable {
  readonly question: string;
  readonly answer: string;
  readonly sources: readonly Source[];
}

/** A triple as a model wrote it; its names are checked when they are stored. */
export interface ReadTriple {
  readonly subject: string;
  readonly subjectType: string;
  readonly relation: RelationType;
  readonly object: string;
  readonly objectType: string;
  /** 0 to 1. */
  readonly confidence: number;
}

/** Most triples of one answer. */
export const mostTriples = 8;
/** How many characters of an answer are read; its beginning says what it is about. */
const answerCharacters = 1_800;
const questionCharacters = 600;
const namedSources = 8;
/** Longest accepted name, in characters. */
const longestName = 120;

const list = relationTypes.map((type) => `${type} (${relations[type].says})`).join(', ');

const rules = `${promptMarks.roles.learner} Write triples for a knowledge graph.
- Reply with a JSON array only, of at most ${mostTriples} objects: {"subject": "", "subject_type": "", "relation": "", "object": "", "object_type": "", "confidence": 0.0}
- subject and object are names of things, short and complete, never sentences, pronouns or whole numbers without a meaning. A short form goes into brackets behind the name: World Health Organization (WHO).
- subject_type and object_type are one word each, such as drug, law, company, person, place, software, date.
- relation is one of: ${list}.
- confidence is how sure the answer is of it, from 0 to 1.
- Only what the answer itself states as a fact, and what still holds without the question. No opinions, no advice, nothing the answer calls unknown.
- [] where there is nothing of the kind.`;

/** The prompt that asks for the triples of a finished run. */
export const triplesPrompt = ({ question, answer, sources }: Learnable): readonly PromptMessage[] => [
  { role: 'system', content: sections(rules, dataRule) },
  {
    role: 'user',
    content: sections(
      `${promptMarks.question}\n${asData(bounded(question, questionCharacters))}`,
      `ANSWER:\n${asData(bounded(answer, answerCharacters))}`,
      sources.length > 0
        ? `SOURCES:\n${asData(
            sources
              .slice(0, namedSources)
              .map(({ kind, title }) => `- ${kind}: ${bounded(oneLine(title), 160)}`)
              .join('\n'),
          )}`
        : null,
    ),
  },
];

export interface TriplesReading {
  readonly triples: readonly ReadTriple[];
  /** Items of the reply that are invalid triples. */
  readonly dropped: number;
  /** Why the reply is unusable; null for a usable one. */
  readonly unusable: string | null;
}

/** Words for confidence, which models may write instead of numbers. */
const confidenceWords: Readonly<Record<string, number>> = { high: 0.9, medium: 0.6, low: 0.3 };
/** Confidence of a triple that states none. */
const unsaid = 0.6;

/**
 * Triples of a model's reply: a bare array or an object that contains one; tolerates fences, surrounding text and other spellings of
 * the keys. A relation that is not on the closed list becomes RELATED_TO. An empty array is a valid reply.
 */
export function readTriples(reply: string): TriplesReading {
  const items = itemsOf(jsonIn(reply));
  if (!items)
    return { triples: [], dropped: 0, unusable: reply.trim() === '' ? 'The reply is empty.' : 'The reply contains no list of triples.' };
  const read = items.map(tripleOf).filter((one) => one !== null);
  const triples = read.slice(0, mostTriples);
  const unusable = items.length > 0 && triples.length === 0 ? 'None of its items is a triple.' : null;
  return { triples, dropped: items.length - triples.length, unusable };
}

function itemsOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value as unknown[];
  if (typeof value !== 'object' || value === null) return null;
  const inner = Object.values(value).find((part) => Array.isArray(part));
  if (inner) return inner as unknown[];
  return 'subject' in value ? [value] : null;
}

function tripleOf(item: unknown): ReadTriple | null {
  const said = fieldsOf(item);
  const subject = nameOf(said(['subject', 'head', 'source'], 0));
  const object = nameOf(said(['object', 'tail', 'target'], 2));
  const relation = said(['relation', 'predicate', 'type'], 1);
  if (subject === null || object === null || typeof relation !== 'string' || relation.trim() === '') return null;
  if (subject.toLowerCase() === object.toLowerCase()) return null;
  const confidence = confidenceOf(said(['confidence'], 3));
  if (confidence <= 0) return null;
  return {
    subject,
    subjectType: typeOf(said(['subject_type', 'subjectType'])),
    relation: relationOf(relation),
    object,
    objectType: typeOf(said(['object_type', 'objectType'])),
    confidence,
  };
}

/** Reads an object by key, and `["Aspirin", "TREATS", "headache"]` by position. */
function fieldsOf(item: unknown): (keys: readonly string[], place?: number) => unknown {
  if (Array.isArray(item)) return (_keys, place) => (place === undefined ? undefined : (item as unknown[])[place]);
  if (typeof item !== 'object' || item === null) return () => undefined;
  const own = new Map(Object.entries(item));
  return (keys) => keys.map((key) => own.get(key)).find((value) => value !== undefined);
}

function nameOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const name = oneLine(value);
  return name === '' || name.length > longestName || !/[\p{L}\p{N}]/u.test(name) ? null : name;
}

const typeOf = (value: unknown): string => (typeof value === 'string' ? oneLine(value).toLowerCase().slice(0, 40) : '');

/** Accepts spellings such as `treats`, `is-a` and `PART OF`. */
export function relationOf(said: string): RelationType {
  const type = said
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_')
    .slice(0, 40);
  if (isRelationType(type)) return type;
  const lower = oneLine(said).toLowerCase();
  return relationTypes.find((one) => relations[one].says === lower) ?? 'RELATED_TO';
}

function confidenceOf(value: unknown): number {
  if (value === undefined || value === null || value === '') return unsaid;
  if (typeof value === 'string') {
    const word = confidenceWords[value.trim().toLowerCase()];
    if (word !== undefined) return word;
    const percent = /^(\d+(?:[.,]\d+)?)\s*%$/.exec(value.trim());
    if (percent) return Math.min(1, Number(percent[1]!.replace(',', '.')) / 100);
  }
  const number = Number(typeof value === 'string' ? value.replace(',', '.') : value);
  return Number.isFinite(number) ? Math.min(1, Math.max(0, number)) : unsaid;
}
