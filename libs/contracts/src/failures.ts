import type { FailureOptions } from './failure-options.js';
import type { FailureSpec } from './failure-spec.js';
import { accessFailures } from './failures-of-access.js';
import { evidenceFailures } from './failures-of-evidence.js';
import { knowledgeFailures } from './failures-of-knowledge.js';
import { storeFailures } from './failures-of-stores.js';

export const failures = {
  REQUEST_INVALID: {
    status: 400,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'The request is not valid. Correct the named field and send it again.',
  },
  REQUEST_NOT_JSON: {
    status: 400,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'The body is not valid JSON. Send a JSON object with Content-Type: application/json.',
  },
  REQUEST_TOO_LARGE: {
    status: 413,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'The body is larger than this gateway accepts. Shorten the conversation or raise `gateway.max_body_bytes`.',
  },
  REQUEST_TOO_COMPLEX: {
    status: 400,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message:
      'The body is nested too deeply or has too many parts: at most 64 levels, 10,000 names and 100,000 values are read. Leave out what is not needed.',
  },
  QUESTION_TOO_LONG: {
    status: 400,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message:
      'The question is longer than this template can ask its models. Shorten it, or put long texts into a collection and ask about them.',
  },
  MEDIA_TYPE_UNSUPPORTED: {
    status: 415,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'This endpoint reads JSON. Send Content-Type: application/json.',
  },
  MODEL_NOT_FOUND: {
    status: 404,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'No template or model has this id. GET /v1/models lists the valid ones.',
  },
  RUN_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'No run has this id, or it has expired.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'No such endpoint. GET /openapi.json lists the endpoints.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'This endpoint does not take that method. GET /openapi.json lists the endpoints.',
  },
  COMMAND_REJECTED: {
    status: 409,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'The run cannot take this command in its present state.',
  },
  COMMAND_NOT_TAKEN: {
    status: 409,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'No run of this strategy takes this command, whatever its state. Send one that it takes.',
  },
  ...accessFailures,
  OVERLOADED: {
    status: 429,
    type: 'rate_limit_error',
    retriable: true,
    errorType: 'policy_overload',
    message: 'As many runs are in flight as this gateway accepts. Try again after the time in Retry-After.',
  },
  UPLOADS_BUSY: {
    status: 429,
    type: 'rate_limit_error',
    retriable: true,
    errorType: 'policy_overload',
    message: 'More documents are being sent than this gateway takes in one go. Send this one again after the time in Retry-After.',
  },
  QUEUE_TOO_LONG: {
    status: 503,
    type: 'server_error',
    retriable: true,
    errorType: 'policy_overload',
    message:
      'The workers are behind: tasks of a new run would wait longer than `gateway.max_queue_wait_s` allows. Try again after the time in Retry-After.',
  },
  NOT_READY: {
    status: 503,
    type: 'server_error',
    retriable: true,
    errorType: 'own_unavailable',
    message: 'The gateway is not ready to accept work. Try again after the time in Retry-After.',
  },
  ...storeFailures,
  LOG_UNAVAILABLE: {
    status: 503,
    type: 'server_error',
    retriable: true,
    errorType: 'own_unavailable',
    message: 'The event log does not answer.',
  },
  COMMIT_CONFLICT: {
    status: 503,
    type: 'server_error',
    retriable: true,
    errorType: 'own_conflict',
    message: 'The run changed too often at the same time. Try again.',
  },
  BLOB_CORRUPT: {
    status: 500,
    type: 'server_error',
    retriable: false,
    errorType: 'own_store',
    message: 'A stored body does not match its hash.',
  },
  BLOB_MISSING: { status: 500, type: 'server_error', retriable: true, errorType: 'own_store', message: 'A stored body is missing.' },
  CACHE_VALUE_TOO_LARGE: {
    status: 500,
    type: 'server_error',
    retriable: false,
    errorType: 'own_store',
    message: 'A value is larger than a cache entry may be. Keep its body as a blob and cache the reference.',
  },
  EVENT_UNDECODABLE: {
    status: 500,
    type: 'server_error',
    retriable: false,
    errorType: 'own_contract',
    message: 'A record on the log is not an event that this version reads.',
  },
  CONFIGURATION_INVALID: {
    status: 500,
    type: 'server_error',
    retriable: false,
    errorType: 'caller_configuration',
    message: 'The configuration has mistakes. Correct the lines named and start again.',
  },
  PROVIDER_UNREACHABLE: {
    status: 502,
    type: 'upstream_error',
    retriable: true,
    errorType: 'provider_unreachable',
    message: 'The model server does not answer. Check that it runs and that `base_url` is right.',
  },
  PROVIDER_REFUSED: {
    status: 502,
    type: 'upstream_error',
    retriable: false,
    errorType: 'provider_refused',
    message: 'The model server refused the request.',
  },
  PROVIDER_UNAUTHENTICATED: {
    status: 502,
    type: 'upstream_error',
    retriable: false,
    errorType: 'provider_auth',
    message: 'The model server did not accept the API key. Check the variable that `api_key_env` names.',
  },
  PROVIDER_RATE_LIMITED: {
    status: 429,
    type: 'upstream_error',
    retriable: true,
    errorType: 'provider_rate_limit',
    message: 'The model server limits the rate of requests.',
  },
  PROVIDER_FAILED: {
    status: 502,
    type: 'upstream_error',
    retriable: true,
    errorType: 'provider_error',
    message: 'The model server failed.',
  },
  PROVIDER_UNWELL: {
    status: 503,
    type: 'upstream_error',
    retriable: true,
    errorType: 'provider_unwell',
    message: 'The model server failed too often of late and is left alone for a while.',
  },
  PROVIDER_STREAM_BROKEN: {
    status: 502,
    type: 'upstream_error',
    retriable: true,
    errorType: 'provider_stream',
    message: 'The model server ended its stream before the answer was complete.',
  },
  PROVIDER_REPLY_INVALID: {
    status: 502,
    type: 'upstream_error',
    retriable: false,
    errorType: 'provider_reply',
    message: 'The model server sent a reply that does not follow the OpenAI protocol.',
  },
  CONTEXT_OVERFLOW: {
    status: 400,
    type: 'upstream_error',
    retriable: false,
    errorType: 'provider_context',
    message: 'The prompt is longer than the context of the model.',
  },
  CALL_TIMEOUT: {
    status: 504,
    type: 'upstream_error',
    retriable: true,
    errorType: 'provider_timeout',
    message: 'The model did not answer in time.',
  },
  CALL_CANCELLED: {
    status: 499,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_cancelled',
    message: 'The call was cancelled.',
  },
  ...evidenceFailures,
  ...knowledgeFailures,
  TASK_EXPIRED: {
    status: 504,
    type: 'server_error',
    retriable: false,
    errorType: 'policy_deadline',
    message: 'The task was not started before its deadline.',
  },
  ALLOWANCE_EXHAUSTED: {
    status: 500,
    type: 'server_error',
    retriable: false,
    errorType: 'policy_budget',
    message: 'The task used up its allowance of model calls or tokens.',
  },
  CAPABILITY_UNSUPPORTED: {
    status: 500,
    type: 'server_error',
    retriable: false,
    errorType: 'own_capability',
    message: 'The worker does not know this capability.',
  },
  WORKER_UNAVAILABLE: {
    status: 503,
    type: 'server_error',
    retriable: true,
    errorType: 'own_unavailable',
    message: 'No worker of this class is alive.',
  },
  RECORD_DEAD: {
    status: 500,
    type: 'server_error',
    retriable: false,
    errorType: 'own_dead_letter',
    message: 'A record of this run could not be handled and was put aside as a dead letter.',
  },
  DEAD_LETTER_NOT_FOUND: {
    status: 404,
    type: 'not_found_error',
    retriable: false,
    errorType: 'caller_unknown',
    message: 'No dead letter has this id, or it has expired. `conclave dead list --all` lists them.',
  },
  DEAD_LETTER_SETTLED: {
    status: 409,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_invalid',
    message: 'This dead letter is settled already. Re-drive it with `again` if it shall be handled once more.',
  },
  RUN_FAILED: {
    status: 502,
    type: 'server_error',
    retriable: true,
    errorType: 'own_run',
    message: 'The run ended without anything to answer from.',
  },
  RUN_CANCELLED: {
    status: 499,
    type: 'invalid_request_error',
    retriable: false,
    errorType: 'caller_cancelled',
    message: 'The run was cancelled.',
  },
  ANSWER_SUPERSEDED: {
    status: 502,
    type: 'server_error',
    retriable: true,
    errorType: 'own_superseded',
    message:
      'The attempt that wrote the text so far died and is being repeated. Send the request again with the same Idempotency-Key to follow the new attempt.',
  },
  SHUTTING_DOWN: {
    status: 503,
    type: 'server_error',
    retriable: true,
    errorType: 'own_shutdown',
    message: 'The gateway is shutting down. A run that was accepted goes on.',
  },
  INTERNAL: {
    status: 500,
    type: 'server_error',
    retriable: true,
    errorType: '_other',
    message: 'Something unexpected went wrong on our side.',
  },
} as const satisfies Record<string, FailureSpec>;

export type FailureCode = keyof typeof failures;

/** A failure of the table. `detail` is a sentence for people about this occurrence (no prompt text, no keys). */
export class Failure extends Error {
  readonly spec: FailureSpec;
  constructor(
    readonly code: FailureCode,
    readonly detail?: string,
    readonly options: FailureOptions = {},
  ) {
    super(detail ? `${failures[code].message} ${detail}` : failures[code].message, { cause: options.cause });
    this.name = 'Failure';
    this.spec = failures[code];
  }
  get retriable(): boolean {
    return this.spec.retriable;
  }
}

/** Failures of our own log, state or stream store: consumption pauses for them, no record is blamed. */
export const outages: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'STORE_UNAVAILABLE',
  'STORE_REPLACED',
  'STORE_FULL',
  'LOG_UNAVAILABLE',
  'BLOB_MISSING',
]);

export const isOutage = (error: unknown): boolean => error instanceof Failure && outages.has(error.code);
