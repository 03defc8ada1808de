import { describe, expect, it } from '@jest/globals';
import { methodsOf, routes } from './http/routes.js';
import { openApiDocument, openApiText } from './openapi.js';

const document = openApiDocument('1.2.3') as {
  paths: Record<string, Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>>;
  components: { schemas: Record<string, unknown> };
};

describe('the OpenAPI document', () => {
  it('has one operation per route, each with a unique id', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
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
