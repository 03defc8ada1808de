import * as z from 'zod';
import { RunsEntryShape, StreamEntryShape } from '../run-stream.js';
import { exampleQuestion, idempotencyKey, questionHeaders } from './option-headers.js';
import { from, position, type Route } from './route.js';
import {
  CallBodies,
  CommandAccepted,
  CommandRequest,
  ForkRequest,
  RerunRequest,
  RunAccepted,
  RunErasedView,
  RunFactList,
  RunList,
  RunRecordList,
  RunRequest,
  RunView,
  SnapshotShape,
} from './runs.js';

/** Runs that outlive their client: started, followed, steered, continued, deleted. */
export const runRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/runs',
    summary: 'Starts a run that outlives its client.',
    request: { name: 'RunRequest', schema: RunRequest, example: { model: 'conclave', input: exampleQuestion } },
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
];
