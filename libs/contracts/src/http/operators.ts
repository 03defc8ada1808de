import * as z from 'zod';
import { exactlyOne } from '../json-schema.js';
import { Timestamp } from '../values.js';
import { oneOf, type Route } from './route.js';

const of = <S>(name: string, schema: S) => ({ name, schema });

/** A model server that this system knows. Its key and headers are never shown. */
export const ProviderView = z.object({
  object: z.literal('provider'),
  name: z.string(),
  base_url: z.string().nullable().describe('address without credentials; null if there is no server, as for the demo model'),
  from: z
    .enum(['configuration', 'found', 'built-in'])
    .describe('named in conclave.yaml or the environment, found on this machine, or part of Conclave'),
  reachable: z.boolean(),
  note: z.string().describe('sentence of the last check'),
  local: z.boolean().describe('on this machine or its network'),
  paid: z.boolean().describe('whether calls cost money'),
  models: z.array(
    z.object({
      id: z.string().describe('`model@provider`'),
      kind: z.enum(['chat', 'embedding']),
      context: z.int().nullable().describe('tokens; null if unknown'),
    }),
  ),
  slots: z.object({
    limit: z.int().describe('calls at the same time, over all processes'),
    used: z.int().describe('calls that use a slot now'),
  }),
  breaker: z
    .object({
      state: z
        .enum(['closed', 'open', 'half-open'])
        .describe('open: no calls for a while; half-open: one call tests whether it works again'),
      since: Timestamp.nullable().describe('when it opened'),
      failed: z.int().describe('number of its latest calls that failed'),
    })
    .nullable()
    .describe('null for a provider without a breaker'),
});
export type ProviderView = z.infer<typeof ProviderView>;
export const ProviderList = z.object({ object: z.literal('list'), data: z.array(ProviderView) });
export type ProviderList = z.infer<typeof ProviderList>;

export const ProviderTestRequest = z
  .strictObject({
    name: z.string({ error: 'must be a text' }).min(1).max(64).optional().describe('a known provider, called with its own key'),
    base_url: z
      .string({ error: 'must be an address' })
      .min(1)
      .max(2_000)
      .meta({ pattern: '^https?://[^/]' })
      .optional()
      .describe('an address to check instead; it gets no key and no headers'),
    model: z.string({ error: 'must be a text' }).min(1).max(300).optional().describe('a model to make one call of a few tokens to'),
  })
  .meta(exactlyOne('name', 'base_url'));
export type ProviderTestRequest = z.infer<typeof ProviderTestRequest>;

export const ProviderTest = z.object({
  object: z.literal('provider_test'),
  ok: z.boolean(),
  sentence: z.string().describe('what was found, for people'),
  base_url: z.string().nullable(),
  models: z.array(z.string()).describe('ids that the server lists'),
  call: z
    .object({ model: z.string(), ok: z.boolean(), sentence: z.string(), duration_ms: z.number() })
    .nullable()
    .describe('the call, if a model was named and the server answers'),
  yaml: z.string().nullable().describe('lines for conclave.yaml that add this server; null for one that is known'),
});
export type ProviderTest = z.infer<typeof ProviderTest>;

/** Caches that can be emptied. */
export const cacheLayers = ['exact', 'semantic', 'plan', 'search'] as const;
export const CacheLayerName = z.enum(cacheLayers);
export type CacheLayerName = z.infer<typeof CacheLayerName>;

export const CacheReport = z.object({
  object: z.literal('caches'),
  tenant: z.string(),
  since: Timestamp.describe('start of this gateway: its counts begin there, and other gateways have their own'),
  layers: z.array(
    z.object({
      layer: CacheLayerName,
      what: z.string().describe('what it keeps, for people'),
      keeps_s: z.int().nullable().describe('maximum seconds for which an entry is kept; null if it depends on the finding'),
      lookups: z.int().nullable().describe('null for a cache that workers use, not the gateway'),
      hits: z.int().nullable(),
      failed: z.int().nullable().describe('lookups that a store did not answer in time; the question was then answered without the cache'),
      purged_at: Timestamp.nullable().describe('when it was last emptied by hand'),
    }),
  ),
  distances: z.object({
    threshold: z.number().describe('below it, the words of two questions are compared; above it, the answer is not used'),
    width: z.number().describe('width of one bucket, in cosine distance; the last bucket contains everything above'),
    buckets: z
      .array(z.object({ from: z.number(), accepted: z.int(), refused: z.int().describe('too distant, or with different words') }))
      .describe('semantic lookups by the distance of the nearest earlier question'),
  }),
});
export type CacheReport = z.infer<typeof CacheReport>;

export const CachePurged = z.object({
  object: z.literal('cache_purge'),
  layer: CacheLayerName,
  tenant: z.string(),
  removed: z.int().describe('number of removed entries'),
});
export type CachePurged = z.infer<typeof CachePurged>;

export const CacheExplanation = z.object({
  object: z.literal('cache_explanation'),
  run: z.string(),
  kind: z
    .enum(['exact', 'semantic', 'none', 'bypassed', 'off'])
    .describe(
      'what answered: the same question, one in other words, or neither; bypassed: the request asked for no cache; off: the template has no cache',
    ),
  sentence: z.string(),
  question: z.string(),
  threshold: z.number(),
  accepted: z
    .object({
      run: z.string().describe('run that gave the answer'),
      question: z.string().describe('question that it answered'),
      distance: z.number().nullable().describe('null for the same question'),
      age_ms: z.number().describe('age of the answer when it was used'),
    })
    .nullable(),
  nearest: z
    .array(
      z.object({
        run: z.string(),
        question: z.string(),
        distance: z.number(),
        differences: z.array(z.string()).describe('why it is another question; empty if the only reason is its distance'),
        within: z.boolean().describe('true if its distance is below the threshold'),
      }),
    )
    .describe('earlier questions that were not used, nearest first, as the cache is now; empty without a semantic cache'),
});
export type CacheExplanation = z.infer<typeof CacheExplanation>;

export const ServicesReport = z.object({
  object: z.literal('services'),
  version: z.string(),
  uptime_s: z.number().describe('seconds since this gateway started'),
  processes: z.array(
    z.object({
      id: z.string(),
      service: z.string(),
      host: z.string().nullable(),
      self: z.boolean().describe('whether it is the process that answers this request'),
    }),
  ),
  consumers: z.array(
    z.object({
      group: z.string(),
      service: z.string(),
      lag: z.int().nullable().describe('records that it has not finished; null if the log did not answer'),
      topics: z.array(z.object({ topic: z.string(), lag: z.int() })),
    }),
  ),
  dependencies: z.array(
    z.object({
      name: z.string(),
      state: z.enum(['ok', 'red', 'absent']).describe('absent: not configured, or out of reach of this process'),
      sentence: z.string().nullable(),
      ms: z.number().describe('milliseconds until it answered'),
    }),
  ),
  dead_letters: z.int().nullable().describe('number of open dead letters; null if the log did not answer in time'),
  problems: z.array(z.string()).describe('sentences about this gateway; empty when it is ready'),
});
export type ServicesReport = z.infer<typeof ServicesReport>;

/** Routes for operators: model servers, caches, services. */
export const operatorRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/providers',
    access: 'operate',
    summary: 'Model servers with their models, slots and breakers; never a key.',
    status: 200,
    response: of('ProviderList', ProviderList),
  },
  {
    method: 'POST',
    path: '/v1/admin/providers/test',
    access: 'operate',
    summary: 'Checks a model server: lists its models, makes one small call if a model is named, and returns the finding as a sentence.',
    request: { ...of('ProviderTestRequest', ProviderTestRequest), example: { base_url: 'http://127.0.0.1:11434/v1' } },
    status: 200,
    response: of('ProviderTest', ProviderTest),
  },
  {
    method: 'GET',
    path: '/v1/admin/caches',
    access: 'administer',
    summary: 'Lookups and hits of the caches of the tenant, and how near earlier questions were.',
    status: 200,
    response: of('CacheReport', CacheReport),
  },
  {
    method: 'DELETE',
    path: '/v1/admin/caches/{layer}',
    access: 'administer',
    inPath: { layer: oneOf(...cacheLayers) },
    summary: 'Empties a cache of the tenant: exact, semantic, plan or search. Recorded on the audit.',
    status: 200,
    response: of('CachePurged', CachePurged),
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}/cache',
    access: 'read',
    summary: 'Why a cache answered a run or did not: both questions, their distance against the threshold, the age, the nearest misses.',
    status: 200,
    response: of('CacheExplanation', CacheExplanation),
  },
  {
    method: 'GET',
    path: '/v1/admin/services',
    access: 'operate',
    summary: 'Live processes, the lag of consumers, stores and their state, open dead letters.',
    status: 200,
    response: of('ServicesReport', ServicesReport),
  },
];
