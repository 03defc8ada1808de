import type { Synthesis } from '@conclave/contracts';
import type { ParsedReply } from '../asks/ask.js';
import type { PlanSaid } from '../asks/asked-judge.js';
import { isEcho } from '../prompts/echoes.js';
import { oneLine, bounded } from '../prompts/quoting.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject, type Loose } from '../replies/names.js';
import { normalisedQuery } from '../research/freshness.js';
import { topicTask, type TopicsAsked } from './topics.js';

/** Characters of a topic and of a query. */
const [topicLength, queryLength] = [200, 400];

const syntheses: Readonly<Record<string, Synthesis>> = {
  merge: 'merge',
  compare: 'compare',
  rank: 'rank',
  // Variants that models use.
  comparison: 'compare',
  contrast: 'compare',
  ranking: 'rank',
  order: 'rank',
};

interface Topic {
  readonly topic: string;
  readonly query: string;
  readonly collections: readonly string[];
}

/**
 * Reads the planner's reply as sub-topics, or its faults as sentences for the model. Repeated sub-topics count once, and those above the
 * limit are left out: the first ones are the ones that matter most.
 */
export function readTopics(reply: string, { most, collections }: TopicsAsked): ParsedReply<PlanSaid> {
  const value = jsonIn(reply);
  if (value === undefined) return { faults: ['The reply contains no JSON. Reply with one JSON object only.'] };
  const said: Loose = isObject(value) ? value : { topics: value };
  const given = said['topics'] ?? said['sub_topics'] ?? said['subtopics'] ?? said['subTopics'];
  if (!Array.isArray(given)) return { faults: ['The reply has no list "topics".'] };
  const topics = new Map<string, Topic>();
  for (const entry of given as readonly unknown[]) {
    const topic = topicOf(entry, collections);
    const key = topic && `${normalisedQuery(topic.query)} ${[...topic.collections].sort().join()}`;
    if (topic && !topics.has(key!)) topics.set(key!, topic);
    if (topics.size === most) break;
  }
  if (topics.size === 0)
    return { faults: ['No sub-topic has a "topic" or a "query" of its own. Write words of the question, not those of the format.'] };
  const word = said['synthesis'] ?? said['synthesis_strategy'] ?? said['strategy'];
  const synthesis = (typeof word === 'string' ? syntheses[word.trim().toLowerCase()] : undefined) ?? 'merge';
  const tasks = [...topics.values()].map(({ topic, query, collections: named }, index) => topicTask(index + 1, topic, query, named));
  return { output: { tasks, content: { synthesis } } };
}

/** Returns null for an entry without any words. Collections that are not offered are dropped. */
function topicOf(entry: unknown, offered: TopicsAsked['collections']): Topic | null {
  const said: Loose = isObject(entry) ? entry : { topic: entry };
  const words = (...names: readonly string[]): string => {
    const found = names.map((name) => said[name]).find((text) => typeof text === 'string' && text.trim() !== '' && !isEcho(text));
    return typeof found === 'string' ? oneLine(found) : '';
  };
  const topic = words('topic', 'title', 'name', 'query', 'search_query', 'question');
  if (topic === '') return null;
  const query = words('query', 'search_query', 'question', 'topic', 'title', 'name');
  const named = said['collections'] ?? said['collection'] ?? [];
  const list: readonly unknown[] = Array.isArray(named) ? named : [named];
  const wanted = new Set(list.flatMap((name) => (typeof name === 'string' ? [name.trim().toLowerCase()] : [])));
  const collections = offered.map(({ name }) => name).filter((name) => wanted.has(name.toLowerCase()));
  return { topic: bounded(topic, topicLength), query: bounded(query, queryLength), collections };
}
