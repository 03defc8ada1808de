import { describe, expect, it } from '@jest/globals';
import { methodsOf, routes } from './http/routes.js';
import { withNulls } from './json-schema.js';
import { openApiDocument, openApiText } from './openapi.js';
import { asyncApiText } from './print/async-api.js';

interface Link {
  operationId: string;
  parameters: Record<string, string>;
}
interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Record<string, unknown> }[];
  responses: Record<string, { content: Record<string, { schema?: { $ref: string } }>; links?: Record<string, Link> }>;
}
const document = openApiDocument('1.2.3') as {
  paths: Record<string, Record<string, Operation>>;
  security: object[];
  components: { schemas: Record<string, Record<string, unknown>>; securitySchemes: Record<string, object> };
};
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const named = (id: string) => operations.find(({ operationId }) => operationId === id)!;
const parameter = (id: string, name: string) => named(id).parameters!.find((one) => one.name === name)!;
const properties = (schema: string) => document.components.schemas[schema]!['properties'] as Record<string, object>;

describe('the OpenAPI document', () => {
  it('has one operation per route, each with a unique id', () => {
    expect(operations).toHaveLength(routes.length);
    expect(new Set(operations.map((operation) => operation.operationId)).size).toBe(routes.length);
  });

  it('refers only to schemas it defines', () => {
    const text = JSON.stringify(document);
    const wanted = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!);
    expect(wanted.filter((name) => !(name in document.components.schemas))).toEqual([]);
    expect(wanted.length).toBeGreaterThan(10);
  });

  it('lists every parameter of a path', () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const operation of Object.values(operations)) {
        expect((operation.parameters ?? []).filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name)).toEqual(
          names,
        );
      }
    }
  });

  it('shows failures of every operation in the error shape of its API, and what a gateway answers that is not ready', () => {
    const shapes = (id: string, status: string) => named(id).responses[status]!.content['application/json']!.schema!.$ref.split('/').at(-1);
    for (const { responses } of operations) expect(Object.keys(responses)).toEqual(expect.arrayContaining(['4XX', '5XX', '429']));
    expect([shapes('postV1Runs', '4XX'), shapes('postV1Messages', '5XX'), shapes('getHealthReady', '503')]).toEqual([
      'ErrorBody',
      'MessagesError',
      'Readiness',
    ]);
  });

  it('names every way in which a caller can be identified', () => {
    expect(document.security).toEqual([{ bearer: [] }, { apiKey: [] }, { session: [] }]);
    expect(document.components.securitySchemes['session']).toMatchObject({ in: 'cookie', name: 'conclave_session' });
  });

  it('says which values a parameter takes, and which ones must be given', () => {
    expect(parameter('getV1Runs', 'limit').schema).toEqual({ type: 'integer', minimum: 1 });
    expect(parameter('getV1ResponsesIdInputItems', 'order').schema).toEqual({ type: 'string', enum: ['asc', 'desc'] });
    expect(parameter('postV1ChatCompletions', 'x-conclave-complexity').schema['enum']).toEqual(['trivial', 'moderate', 'complex']);
    expect(parameter('postV1ChatCompletions', 'x-conclave-cost').schema).toEqual({ type: 'number', exclusiveMinimum: 0 });
    expect([parameter('getV1Events', 'runs'), parameter('getV1KnowledgeInsights', 'run')]).toMatchObject([
      { required: true },
      { required: true },
    ]);
    const runs = new RegExp(String(parameter('getV1Events', 'runs').schema['pattern']));
    expect(['run_a', 'run_a:12,run_b:0'].every((text) => runs.test(text))).toBe(true);
    expect(['', 'run_a:x', 'run_a,'].some((text) => runs.test(text))).toBe(false);
  });

  it('shows where null counts as absent, and where it is a value of its own', () => {
    expect(properties('CollectionRequest')['name']).not.toHaveProperty('anyOf');
    expect(properties('KeyRequest')['tenant']).toMatchObject({ anyOf: [{ type: 'string' }, { type: 'null' }], default: 'default' });
    expect(properties('KeyChange')['name']).toMatchObject({ type: 'string' });
    expect(withNulls({ oneOf: [{ properties: { a: { type: 'string' }, b: {} }, required: ['b'] }] })).toEqual({
      oneOf: [{ properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] }, b: {} }, required: ['b'] }],
    });
  });

  it('links what a request makes to every operation on it', () => {
    const links = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap((response) => Object.values(response.links ?? {})),
    );
    expect(links.length).toBeGreaterThan(30);
    for (const { operationId, parameters } of links)
      expect(Object.keys(parameters)).toEqual(named(operationId).parameters!.flatMap((one) => (one.in === 'path' ? [one.name] : [])));
    expect(named('postV1CollectionsNameDocuments').responses['202']!.links!['deleteV1CollectionsNameDocumentsId']!.parameters).toEqual({
      name: '$request.path.name',
      id: '$response.body#/id',
    });
  });

  it('has a schema of stream entries whose parts do not refuse the members of each other', () => {
    const { anyOf } = document.components.schemas['StreamEntry'] as { anyOf: { allOf?: object[] }[] };
    const entry = anyOf.find(({ allOf }) => allOf)!;
    expect(entry).toMatchObject({ unevaluatedProperties: false });
    expect(JSON.stringify(entry.allOf![0])).not.toContain('additionalProperties');
  });

  it.each(routes.flatMap(({ path, request }) => (request?.example ? [[path, request] as const] : [])))(
    'shows a body that %s accepts',
    (_path, { schema, example }) => {
      expect(schema.safeParse(example)).toMatchObject({ success: true });
    },
  );

  it('holds nothing that only our own error messages read', () => {
    for (const text of [openApiText('1.2.3'), asyncApiText('1.2.3')]) expect(text).not.toContain('"expected": "');
  });

  it('prints the same text twice', () => {
    expect(openApiText('1.2.3')).toBe(openApiText('1.2.3'));
    expect(JSON.parse(openApiText('1.2.3'))).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
  });
});

describe('the route table', () => {
  it.each([
    ['/v1/models', ['GET']],
    ['/v1/models/meta/llama-3:8b@local', ['GET']],
    ['/v1/runs', ['POST', 'GET']],
    ['/v1/runs/run_12345678/events', ['GET']],
    ['/v1/runs/run_12345678/commands', ['POST']],
    ['/openapi.json', ['GET']],
    ['/openapixjson', []],
    ['/v1/unknown', []],
  ])('knows which methods %s accepts', (path, methods) => {
    expect(methodsOf(path)).toEqual(methods);
  });
});
