import * as z from 'zod';
import { Timestamp } from '../values.js';
import { from, type Route } from './route.js';

/** An entity in the knowledge graph. */
export const EntityItem = z.object({
  object: z.literal('entity'),
  id: z.string().describe('its name in normal form'),
  name: z.string(),
  type: z.string().describe('kind of thing in one word, such as drug; may be empty'),
});
export type EntityItem = z.infer<typeof EntityItem>;
export const EntityList = z.object({
  object: z.literal('list'),
  data: z.array(EntityItem).describe('ordered by name'),
  nextAfter: z.string().nullable().describe('`after` of the next page; null on the last one'),
});
export type EntityList = z.infer<typeof EntityList>;

export const RelationView = z.object({
  object: z.literal('relation'),
  id: z.string(),
  subject: EntityItem,
  relation: z.string().describe('type of the relation, such as TREATS'),
  object_entity: EntityItem,
  trust: z.number().describe('0 to 1, ratings included'),
  source: z.string().describe('kind of source that states it'),
  domain: z.string(),
  run: z.string().describe('first run that stated it'),
  at: Timestamp,
  verified: z.boolean().describe('true if a person accepted it'),
});
export type RelationView = z.infer<typeof RelationView>;

/** What answers taught about an entity; `GET /v1/knowledge/insights/{id}` shows the answers and their sources. */
export const GraphInsight = z.object({
  object: z.literal('insight'),
  id: z.string(),
  text: z.string(),
  insight_type: z.string(),
  domain: z.string(),
  entities: z.array(z.string()),
  confidence: z.number(),
  trust: z.number().describe('0 to 1, ratings included'),
  runs: z.array(z.string()).describe('runs that taught it'),
});
export type GraphInsight = z.infer<typeof GraphInsight>;

export const EntityView = EntityItem.extend({
  relations: z.array(RelationView).describe('from and to it, the most trusted first; without badly rated ones'),
  insights: z.array(GraphInsight).describe('what answers taught about it, newest first; without badly rated ones'),
  nextOffset: z.int().nullable().describe('`offset` of the next page; null on the last one'),
});
export type EntityView = z.infer<typeof EntityView>;

export const GraphFacts = z.object({
  object: z.literal('graph'),
  entities: z.int(),
  relations: z.int().describe('including those rated badly'),
  flagged: z.int().describe('relations rated badly'),
  insights: z.int(),
  quarantined: z.int().describe('contradictions that wait for a decision'),
});
export type GraphFacts = z.infer<typeof GraphFacts>;

/** Maximum offset of a page of neighbours: it is limited because each page also reads everything before it. */
export const mostNeighbours = 2_000;

const of = <S>(name: string, schema: S) => ({ name, schema });

/** The knowledge graph of a tenant, for people who browse it. */
export const graphRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/knowledge',
    access: 'read',
    summary: 'Numbers of entities, relations, insights and contradictions in the knowledge graph of the tenant.',
    status: 200,
    response: of('GraphFacts', GraphFacts),
  },
  {
    method: 'GET',
    path: '/v1/knowledge/entities',
    access: 'read',
    summary: 'Entities in the knowledge graph, ordered by name.',
    status: 200,
    response: of('EntityList', EntityList),
    query: [
      { name: 'search', doc: 'only those whose name contains this' },
      { name: 'limit', doc: 'entities per page, 1 to 200; 50 by default', schema: from(1) },
      { name: 'after', doc: '`nextAfter` of the previous page' },
    ],
  },
  {
    method: 'GET',
    path: '/v1/knowledge/entities/{id}',
    access: 'read',
    summary: 'An entity with its neighbours: relations with their trust, and insights with the runs that taught them.',
    status: 200,
    response: of('EntityView', EntityView),
    query: [
      { name: 'limit', doc: 'relations and insights per page, 1 to 200; 50 by default', schema: from(1) },
      { name: 'offset', doc: '`nextOffset` of the previous page', schema: { type: 'integer', minimum: 0, maximum: mostNeighbours } },
    ],
  },
];
