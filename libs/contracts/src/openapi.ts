import * as z from 'zod';
import { failures } from './failures.js';
import { ErrorBody } from './http/errors.js';
import type { Route } from './http/route.js';
import { routes } from './http/routes.js';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' });
  return rest;
}

function contentOf(route: Route): Record<string, unknown> {
  const plain =
    'text' in route.response ? { [route.response.text]: {} } : { 'application/json': { schema: reference(route.response.name) } };
  return route.events ? { ...plain, 'text/event-stream': { schema: reference(route.events.name) } } : plain;
}

function parametersOf(route: Route): readonly unknown[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = (route.query ?? []).map(({ name, doc, integer }) => ({
    name,
    in: 'query',
    description: doc,
    schema: { type: integer ? 'integer' : 'string' },
  }));
  const inHeaders = (route.headers ?? []).map(({ name, doc }) => ({ name, in: 'header', description: doc, schema: { type: 'string' } }));
  return [...inPath, ...inQuery, ...inHeaders];
}

const uploadsOf = ({ uploads = {} }: Route) =>
  Object.fromEntries(
    Object.entries(uploads).map(([mime, description]) => [mime, { schema: { type: 'string', format: 'binary', description } }]),
  );

function operationOf(route: Route): Record<string, unknown> {
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, first: string) => first.toUpperCase())}`,
    summary: route.summary,
    ...(parametersOf(route).length > 0 ? { parameters: parametersOf(route) } : {}),
    ...(route.request
      ? { requestBody: { required: true, content: { 'application/json': { schema: reference(route.request.name) }, ...uploadsOf(route) } } }
      : {}),
    responses: {
      [String(route.status)]: { description: route.summary, content: contentOf(route) },
      default: { description: 'A failure', content: { 'application/json': { schema: reference(route.error?.name ?? 'ErrorBody') } } },
    },
    ...(route.open ? { security: [] } : {}),
  };
}

/** The OpenAPI 3.1 document of every route, as a plain value that depends only on the contracts and the version. */
export function openApiDocument(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, unknown> = { ErrorBody: schemaOf(ErrorBody, 'output') };
  for (const route of routes) {
    const path = route.path.replace('+}', '}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
    if (route.request) schemas[route.request.name] = schemaOf(route.request.schema, 'input');
    if ('schema' in route.response) schemas[route.response.name] = schemaOf(route.response.schema, 'output');
    if (route.error) schemas[route.error.name] = schemaOf(route.error.schema, 'output');
    if (route.events) schemas[route.events.name] = schemaOf(route.events.schema, 'output');
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Conclave',
      version,
      description: 'A mixture-of-experts gateway that looks like one OpenAI model.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
    },
    'x-failures': Object.fromEntries(
      Object.entries(failures).map(([code, { status, type, retriable, message }]) => [code, { status, type, retriable, message }]),
    ),
  };
}

/** `openapi.json` as it is served and printed. */
export const openApiText = (version: string): string => `${JSON.stringify(openApiDocument(version), null, 2)}\n`;
