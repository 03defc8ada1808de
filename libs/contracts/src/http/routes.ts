import { accountRoutes } from './account-routes.js';
import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from './chat.js';
import { Completion, CompletionRequest } from './completions.js';
import { DeadLetterList, DeadLetterSettled, DeadLetterView, DiscardRequest, RedriveRequest } from './dead-letters.js';
import { EmbeddingList, EmbeddingRequest } from './embeddings.js';
import { Live, Readiness } from './health.js';
import { graphRoutes } from './graph.js';
import { knowledgeRoutes } from './knowledge-routes.js';
import { CountedTokens, CountTokensRequest, MessageAnswer, MessageEvent, MessagesError, MessagesRequest } from './messages.js';
import { ModelList, ModelObject } from './models.js';
import { exampleQuestion, questionHeaders } from './option-headers.js';
import { ResponseDeleted, ResponseEvent, ResponseItemList, ResponseObject, ResponseRequest } from './responses.js';
import { operatorRoutes } from './operators.js';
import { from, oneOf, position, type Route } from './route.js';
import { runRoutes } from './run-routes.js';
import { sessionRoutes } from './sessions.js';

/** A time in a query: a date, a date with a time, or milliseconds since 1970. */
const moment = { anyOf: [{ type: 'string', format: 'date' }, { type: 'string', format: 'date-time' }, position] };

/** The answer of a gateway that cannot do work. */
const notReady = { status: 503, doc: 'The gateway cannot do work.', name: 'Readiness', schema: Readiness };

/** All endpoints: the OpenAPI document is printed from this list, and wrong methods are detected with it. */
export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    access: 'change',
    summary: 'Asks a template or a model; streamed with `stream: true`. The run ends when its last client disconnects.',
    request: {
      name: 'ChatCompletionRequest',
      schema: ChatCompletionRequest,
      example: { model: 'conclave', messages: [{ role: 'user', content: exampleQuestion }] },
    },
    status: 200,
    response: { name: 'ChatCompletion', schema: ChatCompletion },
    events: { name: 'ChatCompletionChunk', schema: ChatCompletionChunk },
    headers: questionHeaders,
  },
  {
    method: 'POST',
    path: '/v1/responses',
    access: 'change',
    summary: "As /v1/chat/completions, in the shape of OpenAI's Responses API; stored for seven days unless `store` is false.",
    request: { name: 'ResponseRequest', schema: ResponseRequest, example: { model: 'conclave', input: exampleQuestion } },
    status: 200,
    response: { name: 'ResponseObject', schema: ResponseObject },
    makes: { member: 'id', at: '/v1/responses/{id}' },
    events: { name: 'ResponseEvent', schema: ResponseEvent },
    headers: questionHeaders,
  },
  {
    method: 'GET',
    path: '/v1/responses/{id}',
    access: 'read',
    summary: 'A stored response, complete or in progress; with `stream=true` as events, whose last ones come when it has ended.',
    status: 200,
    response: { name: 'ResponseObject', schema: ResponseObject },
    events: { name: 'ResponseEvent', schema: ResponseEvent },
    query: [
      { name: 'stream', doc: '`true`: as server-sent events', schema: { type: 'boolean' } },
      { name: 'starting_after', doc: 'start after the event with this number; the last event always comes', schema: position },
    ],
  },
  {
    method: 'DELETE',
    path: '/v1/responses/{id}',
    access: 'change',
    summary: 'Deletes a stored response; its run is kept until its own retention ends.',
    status: 200,
    response: { name: 'ResponseDeleted', schema: ResponseDeleted },
  },
  {
    method: 'POST',
    path: '/v1/responses/{id}/cancel',
    access: 'change',
    summary: 'Cancels the run of a response; one that has ended stays as it is.',
    status: 200,
    response: { name: 'ResponseObject', schema: ResponseObject },
  },
  {
    method: 'GET',
    path: '/v1/responses/{id}/input_items',
    access: 'read',
    summary: 'The input of a stored response, newest item first.',
    status: 200,
    response: { name: 'ResponseItemList', schema: ResponseItemList },
    query: [
      { name: 'limit', doc: 'items per page, 1 to 200; 50 by default', schema: from(1) },
      { name: 'order', doc: '`asc`: oldest item first', schema: oneOf('asc', 'desc') },
      { name: 'after', doc: 'start after the item with this id' },
    ],
  },
  {
    method: 'POST',
    path: '/v1/messages',
    access: 'change',
    summary: "As /v1/chat/completions, in the shape of Anthropic's Messages API; its errors too.",
    request: {
      name: 'MessagesRequest',
      schema: MessagesRequest,
      example: { model: 'conclave', max_tokens: 500, messages: [{ role: 'user', content: exampleQuestion }] },
    },
    status: 200,
    response: { name: 'MessageAnswer', schema: MessageAnswer },
    events: { name: 'MessageEvent', schema: MessageEvent },
    error: { name: 'MessagesError', schema: MessagesError },
    headers: questionHeaders,
  },
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    access: 'read',
    summary: 'Estimates the tokens of a request for /v1/messages.',
    request: {
      name: 'CountTokensRequest',
      schema: CountTokensRequest,
      example: { model: 'conclave', messages: [{ role: 'user', content: exampleQuestion }] },
    },
    status: 200,
    response: { name: 'CountedTokens', schema: CountedTokens },
    error: { name: 'MessagesError', schema: MessagesError },
  },
  {
    method: 'POST',
    path: '/v1/completions',
    access: 'change',
    summary: "As /v1/chat/completions with one question, in the shape of OpenAI's legacy API.",
    request: { name: 'CompletionRequest', schema: CompletionRequest, example: { model: 'conclave', prompt: exampleQuestion } },
    status: 200,
    response: { name: 'Completion', schema: Completion },
    events: { name: 'Completion', schema: Completion },
    headers: questionHeaders,
  },
  {
    method: 'POST',
    path: '/v1/embeddings',
    access: 'change',
    summary: 'Vectors of texts, by the embedder that collections use or by an embedding model of a provider.',
    request: {
      name: 'EmbeddingRequest',
      schema: EmbeddingRequest,
      example: { model: 'conclave-embedding', input: ['a clock', 'a music box'] },
    },
    status: 200,
    response: { name: 'EmbeddingList', schema: EmbeddingList },
  },
  {
    method: 'GET',
    path: '/v1/models',
    access: 'read',
    summary: 'Templates, aliases and models that can be asked.',
    status: 200,
    response: { name: 'ModelList', schema: ModelList },
    query: [
      {
        name: 'kind',
        doc: '`embedding`: the models that make vectors, instead of those that can be asked',
        schema: oneOf('chat', 'embedding'),
      },
    ],
  },
  {
    method: 'GET',
    path: '/v1/models/{id+}',
    access: 'read',
    summary: 'A template, an alias or a model; the id may contain slashes.',
    status: 200,
    response: { name: 'ModelObject', schema: ModelObject },
  },
  ...runRoutes,
  {
    method: 'GET',
    path: '/v1/admin/dead-letters',
    access: 'operate',
    summary: 'Dead letters: records that could not be handled, newest first. Needs a key with the role admin, like every admin route.',
    status: 200,
    response: { name: 'DeadLetterList', schema: DeadLetterList },
    query: [
      { name: 'topic', doc: 'only those from this topic' },
      { name: 'group', doc: 'only those of this consumer group' },
      { name: 'reason', doc: 'only those with this reason: undecodable, failed, killed_process' },
      { name: 'all', doc: '`true` for settled letters too; only open ones by default', schema: { type: 'boolean' } },
      { name: 'limit', doc: 'letters per page, 1 to 200; 50 by default', schema: from(1) },
      { name: 'before', doc: '`nextBefore` of the previous page', schema: { type: 'string', pattern: '^\\d{1,16}-\\d{1,10}-\\d{1,20}$' } },
    ],
  },
  {
    method: 'GET',
    path: '/v1/admin/dead-letters/{id}',
    access: 'operate',
    summary: 'A dead letter: headers, raw bytes, decisions, and what its failure caused.',
    status: 200,
    response: { name: 'DeadLetterView', schema: DeadLetterView },
  },
  {
    method: 'POST',
    path: '/v1/admin/dead-letters/{id}/redrive',
    access: 'operate',
    summary: 'Publishes the record of a dead letter again, byte by byte, only for the group that failed.',
    request: { name: 'RedriveRequest', schema: RedriveRequest, example: { note: 'The model server is back.' } },
    status: 200,
    response: { name: 'DeadLetterSettled', schema: DeadLetterSettled },
  },
  {
    method: 'POST',
    path: '/v1/admin/dead-letters/{id}/discard',
    access: 'operate',
    summary: 'Marks a dead letter as settled without handling; it stays on the log until its retention ends.',
    request: { name: 'DiscardRequest', schema: DiscardRequest, example: { note: 'No longer needed.' } },
    status: 200,
    response: { name: 'DeadLetterSettled', schema: DeadLetterSettled },
  },
  {
    method: 'GET',
    path: '/v1/audit',
    access: 'audit',
    summary:
      'The audit as hash-chained lines of JSON with a signed head at the end. Needs a key with the role auditor or admin; shows only its own tenant, except to admins of the tenant `default`. Each export is itself recorded.',
    status: 200,
    response: { text: 'application/x-ndjson' },
    query: [
      {
        name: 'tenant',
        doc: 'only this tenant; without it an admin key of the tenant `default` reads all, and any other key its own',
      },
      { name: 'run', doc: 'only this run and its child runs' },
      { name: 'since', doc: 'from this time on, as a date or in milliseconds since 1970, by the clock of the log', schema: moment },
      { name: 'until', doc: 'up to this time', schema: moment },
    ],
  },
  {
    method: 'GET',
    path: '/v1/admin/health',
    access: 'operate',
    summary: 'Whether the gateway can do work, with a sentence for each problem. Its metrics are on the admin port.',
    status: 200,
    response: { name: 'Readiness', schema: Readiness },
  },
  ...knowledgeRoutes,
  ...accountRoutes,
  ...sessionRoutes,
  ...graphRoutes,
  ...operatorRoutes,
  {
    method: 'GET',
    path: '/',
    access: 'open',
    summary: 'The web console for browsers; for other clients, a page that explains how to use this gateway.',
    status: 200,
    response: { text: 'text/html' },
  },
  {
    method: 'GET',
    path: '/console/{page+}',
    access: 'open',
    summary: 'A page inside the web console.',
    status: 200,
    response: { text: 'text/html' },
  },
  {
    method: 'GET',
    path: '/assets/{name}',
    access: 'open',
    summary: 'A script or style sheet of the web console; its name changes with its content.',
    status: 200,
    response: { text: ['text/javascript', 'text/css'] },
  },
  {
    method: 'GET',
    path: '/health',
    access: 'open',
    summary: 'As /health/ready.',
    status: 200,
    response: { name: 'Readiness', schema: Readiness },
    otherwise: notReady,
  },
  {
    method: 'GET',
    path: '/health/live',
    access: 'open',
    summary: 'Whether the process answers.',
    status: 200,
    response: { name: 'Live', schema: Live },
  },
  {
    method: 'GET',
    path: '/health/ready',
    access: 'open',
    summary: 'Whether the gateway can do work; otherwise 503, with a sentence for each problem if the caller may see them.',
    status: 200,
    response: { name: 'Readiness', schema: Readiness },
    otherwise: notReady,
  },
  { method: 'GET', path: '/openapi.json', access: 'read', summary: 'This document.', status: 200, response: { text: 'application/json' } },
  {
    method: 'GET',
    path: '/asyncapi.json',
    access: 'read',
    summary: 'The events between the services, as an AsyncAPI document.',
    status: 200,
    response: { text: 'application/json' },
  },
];

/** Pattern of a route's path: a name in braces matches one segment, a name with a plus several. */
const patternOf = ({ path }: Pick<Route, 'path'>): RegExp =>
  new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replaceAll(/\{\w+\+\}/g, '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+')}/?$`,
  );

const patterns = routes.map((route) => ({ route, pattern: patternOf(route) }));

/** All routes that match a path, in the order of the table; empty for an unknown path. */
export const routesAt = (path: string): readonly Route[] => patterns.flatMap(({ route, pattern }) => (pattern.test(path) ? [route] : []));

/** Methods of all routes that match a path; empty for an unknown path. */
export const methodsOf = (path: string): readonly string[] => [...new Set(routesAt(path).map(({ method }) => method))];
