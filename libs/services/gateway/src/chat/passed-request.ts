import { Failure, PassedChatRequest } from '@conclave/contracts';
import type { JsonObject } from '@conclave/ports';
import { parseBody } from '../http/request-shape.js';
import { checkHeaders, keepAliveOption, type RequestHeaders } from './option-headers.js';

/** A request that is passed on to its model unchanged. */
export interface PassedQuestion {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly body: JsonObject;
  /** Whether white space is sent while an answer that is not streamed is pending; null: as configured. */
  readonly keepAlive: boolean | null;
}

/**
 * Members by which gateways in front of a model choose the endpoint and the account of a call. Only the operator chooses these.
 */
const ours: ReadonlySet<string> = new Set([
  'conclave',
  'api_key',
  'api_base',
  'base_url',
  'api_version',
  'api_type',
  'organization',
  'headers',
  'extra_headers',
  'extra_query',
  'extra_body',
  'custom_llm_provider',
  'user_config',
  'fallbacks',
  'litellm_params',
  'model_list',
]);

/** Members named like credentials: they are removed before the call and from the body in the audit. */
const credential =
  /(^|[_-])(api[_-]?key|authorization|secret|password|credentials?|(secret[_-]?)?access[_-]?key([_-]id)?|(access|auth|bearer|session|ad)[_-]token)$/i;

/** Throws REQUEST_INVALID for a request that cannot be passed on; the model server checks the rest. */
export function readPassedRequest(body: JsonObject, headers: RequestHeaders, maxMessages: number): PassedQuestion {
  const { model, messages, stream, stream_options: options, conclave } = parseBody(PassedChatRequest, body);
  const inHeaders = checkHeaders(headers);
  // A client that expects a notification must not wait for one that is never sent.
  if (conclave?.webhook ?? inHeaders.webhook)
    throw new Failure(
      'REQUEST_INVALID',
      'A call to a single model is not a run, so no webhook is called when it ends: leave `webhook` out, or ask a template.',
      {
        param: 'conclave.webhook',
      },
    );
  if (messages.length > maxMessages)
    throw new Failure('REQUEST_INVALID', `At most ${maxMessages} messages are allowed; leave out the oldest.`, { param: 'messages' });
  const includeUsage = options?.include_usage ?? false;
  return {
    model,
    stream: stream ?? false,
    keepAlive: conclave?.keep_alive_json ?? keepAliveOption(headers),
    includeUsage,
    body: passedBody(body),
  };
}

/** The body without the members that only the operator chooses, and without credentials. */
export const passedBody = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !ours.has(name) && !credential.test(name)));
