import * as z from 'zod';
import { RunsEntryShape, StreamEntryShape } from '../run-stream.js';
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
import { idempotencyKey, questionHeaders } from './option-headers.js';
import { ResponseDeleted, ResponseEvent, ResponseItemList, ResponseObject, ResponseRequest } from './responses.js';
import { operatorRoutes } from './operators.js';
import { from, oneOf, position, type Route } from './route.js';
import {
  CommandAccepted,
  CommandRequest,
  ForkRequest,
  RerunRequest,
  RunAccepted,
  RunErasedView,
  RunFactList,
  CallBodies,
  RunList,
  RunRecordList,
  RunRequest,
  RunView,
  SnapshotShape,
} from './runs.js';
import { sessionRoutes } from './sessions.js';

/** A time in a query: a date, a date with a time, or milliseconds since 1970. */
const moment = { anyOf: [{ type: 'string', format: 'date' }, { type: 'string', format: 'date-time' }, position] };

/** The answer of a gateway that cannot do work. */
const notReady = { status: 503, doc: 'The gateway cannot do work.', name: 'Readiness', schema: Readiness };

const question = 'In which town was the founder of the Northlight Clock Company born?';

/** All endpoints: the OpenAPI document is printed from this list, and wrong methods are detected with it. */
export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    summary: 'Asks a template or a model; streamed with `stream: true`. The run ends when its last client disconnects.',
    request: {
      name: 'ChatCompletionRequest',
      schema: ChatCompletionRequest,
      example: { model: 'conclave', messages: [{ role: 'user', content: question }] },
    },
    status: 200,
    response: { name: 'ChatCompletion', schema: ChatCompletion },
    events: { name: 'ChatCompletionChunk', schema: ChatCompletionChunk },
    headers: questionHeaders,
  },
  {
    method: 'POST',
    path: '/v1/responses',
    summary: "As /v1/chat/completions, in the shape of OpenAI's Responses API; stored for seven days unless `store` is false.",
    request: { name: 'ResponseRequest', schema: ResponseRequest, example: { model: 'conclave', input: question } },
    status: 200,
    response: { name: 'ResponseObject', schema: ResponseObject },
    makes: { member: 'id', at: '/v1/responses/{id}' },
    events: { name: 'ResponseEvent', schema: ResponseEvent },
    headers: questionHeaders,
  },
  {
    method: 'GET',
    path: '/v1/responses/{id}',
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
    summary: 'Deletes a stored response; its run is kept until its own retention ends.',
    status: 200,
    response: { name: 'ResponseDeleted', schema: ResponseDeleted },
  },
  {
    method: 'POST',
    path: '/v1/responses/{id}/cancel',
    summary: 'Cancels the run of a response; one that has ended stays as it is.',
    status: 200,
    response: { name: 'ResponseObject', schema: ResponseObject },
  },
  {
    method: 'GET',
    path: '/v1/responses/{id}/input_items',
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
    summary: "As /v1/chat/completions, in the shape of Anthropic's Messages API; its errors too.",
    request: {
      name: 'MessagesRequest',
      schema: MessagesRequest,
      example: { model: 'conclave', max_tokens: 500, messages: [{ role: 'user', content: question }] },
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
    summary: 'Estimates the tokens of a request for /v1/messages.',
    request: {
      name: 'CountTokensRequest',
      schema: CountTokensRequest,
      example: { model: 'conclave', messages: [{ role: 'user', content: question }] },
    },
    status: 200,
    response: { name: 'CountedTokens', schema: CountedTokens },
    error: { name: 'MessagesError', schema: MessagesError },
  },
  {
    method: 'POST',
    path: '/v1/completions',
    summary: "As /v1/chat/completions with one question, in the shape of OpenAI's legacy API.",
    request: { name: 'CompletionRequest', schema: CompletionRequest, example: { model: 'conclave', prompt: question } },
    status: 200,
    response: { name: 'Completion', schema: Completion },
    events: { name: 'Completion', schema: Completion },
    headers: questionHeaders,
  },
  {
    method: 'POST',
    path: '/v1/embeddings',
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
    summary: 'A template, an alias or a model; the id may contain slashes.',
    status: 200,
    response: { name: 'ModelObject', schema: ModelObject },
  },
  {
    method: 'POST',
    path: '/v1/runs',
    summary: 'Starts a run that outlives its client.',
    request: { name: 'RunRequest', schema: RunRequest, example: { model: 'conclave', input: question } },
    status: 202,
    response: { name: 'RunAccepted', schema: RunAccepted },
    makes: { member: 'id', at: '/v1/runs/{id}' },
    headers: questionHeaders,
  },
  {
    method: 'GET',
    path: '/v1/runs',
    summary: 'Runs of the caller, newest first.',
    status: 200,
    response: { name: 'RunList', schema: RunList },
    query: [
      { name: 'limit', doc: 'runs per page, 1 to 100; 20 by default', schema: from(1) },
      { name: 'before', doc: '`nextBefore` of the previous page', schema: position },
    ],
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}',
    summary: 'A run: plan, tasks, decisions, usage, answer.',
    status: 200,
    response: { name: 'RunView', schema: RunView },
  },
  {
    method: 'DELETE',
    path: '/v1/runs/{id}',
    summary: 'Deletes an ended run for good: question, answer, prompts, replies, and everything kept of them for later questions.',
    status: 200,
    response: { name: 'RunErasedView', schema: RunErasedView },
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}/events',
    summary: "The run's stream as server-sent events, resumable by id. Ends after the terminal entry.",
    status: 200,
    response: { text: 'text/event-stream' },
    events: { name: 'StreamEntry', schema: z.union([StreamEntryShape, SnapshotShape]) },
    query: [{ name: 'after', doc: 'start after this id; the header takes precedence', schema: position }],
    headers: [{ name: 'last-event-id', doc: 'start after this id', schema: position }],
  },
  {
    method: 'GET',
    path: '/v1/events',
    summary:
      'The streams of several runs on one connection, each entry with the id of its run. Ends when all of them have ended. A run that cannot be read refuses the whole request, and `param` names it.',
    status: 200,
    response: { text: 'text/event-stream' },
    events: { name: 'RunsEntry', schema: z.union([RunsEntryShape, SnapshotShape]) },
    query: [
      {
        name: 'runs',
        doc: 'up to 50 ids of runs, each with the last id that was seen of it: `run_a:12,run_b:0`',
        schema: { type: 'string', pattern: '^[A-Za-z0-9_.~-]{1,200}(:[0-9]{1,15})?(,[A-Za-z0-9_.~-]{1,200}(:[0-9]{1,15})?){0,49}$' },
        required: true,
      },
    ],
  },
  {
    method: 'POST',
    path: '/v1/runs/{id}/commands',
    summary: 'Sends a command to a run; accepted here, then applied or rejected on its stream.',
    request: { name: 'CommandRequest', schema: CommandRequest, example: { command: 'cancel', reason: 'no longer needed' } },
    status: 202,
    response: { name: 'CommandAccepted', schema: CommandAccepted },
    headers: [{ name: 'idempotency-key', doc: 'two commands with the same key take effect once' }],
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}/facts',
    summary: 'Every fact of a run with its step, read from the log.',
    status: 200,
    response: { name: 'RunFactList', schema: RunFactList },
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}/records',
    summary: 'Every step and call of a run as recorded on the log: durations, discarded attempts, and costs.',
    status: 200,
    response: { name: 'RunRecordList', schema: RunRecordList },
  },
  {
    method: 'GET',
    path: '/v1/runs/{id}/records/bodies',
    summary: 'Prompt and reply of one call, for keys that may see them. The audit records that they were read.',
    status: 200,
    response: { name: 'CallBodies', schema: CallBodies },
    query: [
      { name: 'step', doc: 'journal step of the call', schema: { type: 'string', minLength: 1 }, required: true },
      { name: 'attempt', doc: 'its attempt, 1 by default', schema: from(1) },
    ],
  },
  {
    method: 'POST',
    path: '/v1/runs/{id}/forks',
    summary: 'Continues a run after one of its steps, as a new run: with the same facts up to that step, and live from then on.',
    request: { name: 'ForkRequest', schema: ForkRequest, example: { step: 1 } },
    status: 202,
    response: { name: 'RunAccepted', schema: RunAccepted },
    makes: { member: 'id', at: '/v1/runs/{id}' },
    headers: [idempotencyKey],
  },
  {
    method: 'POST',
    path: '/v1/runs/{id}/reruns',
    summary: 'Asks the question of a run again with another template, as a new run: the same turns, system message, files and parameters.',
    request: { name: 'RerunRequest', schema: RerunRequest, example: { template: 'conclave-fast' } },
    status: 202,
    response: { name: 'RunAccepted', schema: RunAccepted },
    makes: { member: 'id', at: '/v1/runs/{id}' },
    headers: [idempotencyKey],
  },
  {
    method: 'GET',
    path: '/v1/admin/dead-letters',
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
    summary: 'A dead letter: headers, raw bytes, decisions, and what its failure caused.',
    status: 200,
    response: { name: 'DeadLetterView', schema: DeadLetterView },
  },
  {
    method: 'POST',
    path: '/v1/admin/dead-letters/{id}/redrive',
    summary: 'Publishes the record of a dead letter again, byte by byte, only for the group that failed.',
    request: { name: 'RedriveRequest', schema: RedriveRequest, example: { note: 'The model server is back.' } },
    status: 200,
    response: { name: 'DeadLetterSettled', schema: DeadLetterSettled },
  },
  {
    method: 'POST',
    path: '/v1/admin/dead-letters/{id}/discard',
    summary: 'Marks a dead letter as settled without handling; it stays on the log until its retention ends.',
    request: { name: 'DiscardRequest', schema: DiscardRequest, example: { note: 'No longer needed.' } },
    status: 200,
    response: { name: 'DeadLetterSettled', schema: DeadLetterSettled },
  },
  {
    method: 'GET',
    path: '/v1/audit',
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
    summary: 'The web console for browsers; for other clients, a page that explains how to use this gateway.',
    status: 200,
    response: { text: 'text/html' },
    open: true,
  },
  {
    method: 'GET',
    path: '/console/{page+}',
    summary: 'A page inside the web console.',
    status: 200,
    response: { text: 'text/html' },
    open: true,
  },
  {
    method: 'GET',
    path: '/assets/{name}',
    summary: 'A script or style sheet of the web console; its name changes with its content.',
    status: 200,
    response: { text: ['text/javascript', 'text/css'] },
    open: true,
  },
  {
    method: 'GET',
    path: '/health',
    summary: 'As /health/ready.',
    status: 200,
    response: { name: 'Readiness', schema: Readiness },
    otherwise: notReady,
    open: true,
  },
  {
    method: 'GET',
    path: '/health/live',
    summary: 'Whether the process answers.',
    status: 200,
    response: { name: 'Live', schema: Live },
    open: true,
  },
  {
    method: 'GET',
    path: '/health/ready',
    summary: 'Whether the gateway can do work; otherwise 503, with a sentence for each problem if the caller may see them.',
    status: 200,
    response: { name: 'Readiness', schema: Readiness },
    otherwise: notReady,
    open: true,
  },
  { method: 'GET', path: '/openapi.json', summary: 'This document.', status: 200, response: { text: 'application/json' } },
  {
    method: 'GET',
    path: '/asyncapi.json',
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
