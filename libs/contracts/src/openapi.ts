import { failures } from './failures.js';
import { ErrorBody } from './http/errors.js';
import type { Parameter, Route } from './http/route.js';
import { routes } from './http/routes.js';
import { csrfHeader, sessionCookie } from './http/sessions.js';
import { jsonSchemaOf, type JsonSchema, withNulls } from './json-schema.js';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function contentOf({ response, events }: Route): Record<string, unknown> {
  const plain =
    'text' in response
      ? Object.fromEntries([response.text].flat().map((mime) => [mime, {}]))
      : { 'application/json': { schema: reference(response.name) } };
  return events ? { ...plain, 'text/event-stream': { schema: reference(events.name) } } : plain;
}

const namesIn = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name!);

function parametersOf({ path, inPath = {}, query = [], headers = [] }: Route): readonly unknown[] {
  const anyText = { type: 'string' };
  const listed = (where: 'query' | 'header') => (parameter: Parameter) => ({
    ...{ name: parameter.name, in: where, description: parameter.doc },
    ...(parameter.required ? { required: true } : {}),
    ...(parameter.json ? { content: { 'application/json': { schema: parameter.json } } } : { schema: parameter.schema ?? anyText }),
  });
  return [
    ...namesIn(path).map((name) => ({ name, in: 'path', required: true, schema: inPath[name] ?? anyText })),
    ...query.map(listed('query')),
    ...headers.map(listed('header')),
  ];
}

const uploadsOf = ({ uploads = {} }: Route) =>
  Object.fromEntries(
    Object.entries(uploads).map(([mime, description]) => [mime, { schema: { type: 'string', format: 'binary', description } }]),
  );

const idOf = ({ method, path }: Route): string =>
  `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, first: string) => first.toUpperCase())}`;

/** The operations on what a request makes, each with the values of its path. */
function linksOf(route: Route): Record<string, unknown> {
  const { makes } = route;
  if (!makes) return {};
  const own = new Set(namesIn(route.path));
  const made = namesIn(makes.at).at(-1)!;
  const valueOf = (name: string) => (name !== made && own.has(name) ? `$request.path.${name}` : `$response.body#/${makes.member}`);
  const on = routes.filter(({ path }) => path === makes.at || path.startsWith(`${makes.at}/`));
  const reached = on.filter(({ path }) => namesIn(path).length === namesIn(makes.at).length);
  const links = reached.map((target) => [
    idOf(target),
    { operationId: idOf(target), parameters: Object.fromEntries(namesIn(target.path).map((name) => [name, valueOf(name)])) },
  ]);
  return { links: Object.fromEntries(links) };
}

const failureHeaders = {
  'x-request-id': { $ref: '#/components/headers/RequestId' },
  'x-should-retry': { $ref: '#/components/headers/ShouldRetry' },
};
const laterHeaders = { ...failureHeaders, 'retry-after': { $ref: '#/components/headers/RetryAfter' } };

function responsesOf(route: Route): Record<string, unknown> {
  const failure = { content: { 'application/json': { schema: reference(route.error?.name ?? 'ErrorBody') } } };
  const { otherwise } = route;
  return {
    [String(route.status)]: { description: route.summary, content: contentOf(route), ...linksOf(route) },
    '4XX': {
      description: 'The request cannot be carried out as it is; the message says what to change.',
      headers: failureHeaders,
      ...failure,
    },
    ...(otherwise
      ? {
          [String(otherwise.status)]: {
            description: otherwise.doc,
            content: { 'application/json': { schema: reference(otherwise.name) } },
          },
        }
      : {}),
    '5XX': { description: 'The gateway, its stores or a model server failed.', headers: laterHeaders, ...failure },
    429: { description: 'A limit is reached; `retry-after` says when to try again.', headers: laterHeaders, ...failure },
  };
}

const jsonContent = ({ name, example }: NonNullable<Route['request']>) => ({ schema: reference(name), ...(example ? { example } : {}) });

function operationOf(route: Route): Record<string, unknown> {
  const parameters = parametersOf(route);
  return {
    operationId: idOf(route),
    summary: route.summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.request
      ? { requestBody: { required: true, content: { 'application/json': jsonContent(route.request), ...uploadsOf(route) } } }
      : {}),
    responses: responsesOf(route),
    ...(route.access === 'open' ? { security: [] } : {}),
  };
}

function bodyOf({ schema, nullIsValue }: NonNullable<Route['request']>): JsonSchema {
  const shape = jsonSchemaOf(schema, 'input');
  return nullIsValue ? shape : withNulls(shape);
}

const text = { type: 'string' };
const headers = {
  RequestId: { description: 'Names the request in the logs; the `x-request-id` of the request, if it has one.', schema: text },
  ShouldRetry: {
    description: '`false`: a repeat of the request would fail again, or pay twice.',
    schema: { type: 'string', enum: ['false'] },
  },
  RetryAfter: {
    description: 'Seconds after which a repeat may succeed; with 429 and 503.',
    schema: { type: 'integer', minimum: 1, maximum: 60 },
  },
};

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  session: {
    ...{ type: 'apiKey', in: 'cookie', name: sessionCookie },
    description: `Set by \`POST /v1/session\`, for pages of the gateway. Requests that change something also carry \`${csrfHeader}\`.`,
  },
};

/** The OpenAPI 3.1 document of every route, as a plain value that depends only on the contracts and the version. */
export function openApiDocument(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, unknown> = { ErrorBody: jsonSchemaOf(ErrorBody, 'output') };
  for (const route of routes) {
    const path = route.path.replace('+}', '}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
    if (route.request) schemas[route.request.name] = bodyOf(route.request);
    const answers = [...('schema' in route.response ? [route.response] : []), route.otherwise, route.error, route.events];
    for (const answer of answers) if (answer) schemas[answer.name] = jsonSchemaOf(answer.schema, 'output');
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Conclave',
      version,
      description:
        'A mixture-of-experts gateway that looks like one OpenAI model. While no API keys are configured, requests need none, except those for admins. An empty parameter counts as absent.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    paths,
    components: { schemas, headers, securitySchemes },
    'x-failures': Object.fromEntries(
      Object.entries(failures).map(([code, { status, type, retriable, message }]) => [code, { status, type, retriable, message }]),
    ),
  };
}

/** `openapi.json` as it is served and printed. */
export const openApiText = (version: string): string => `${JSON.stringify(openApiDocument(version), null, 2)}\n`;
