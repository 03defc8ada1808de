import { Failure, PassedChatRequest } from '@conclave/contracts';
import type { JsonBody } from '@conclave/ports';
import { parseBody } from '../http/request-shape.js';
import { checkHeaders, type Headers } from './option-headers.js';

/** A request that goes on to its model as it came. */
export interface PassedQuestion {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly body: JsonBody;
}

/**
 * Members that say where and with whose account a call is made, as gateways before a model read them. The operator says so here, and
 * nobody else.
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

/** Throws REQUEST_INVALID for what cannot be passed on at all; whether the rest is right, the model server says. */
export function readPassedRequest(body: JsonBody, headers: Headers, maxMessages: number): PassedQuestion {
  const { model, messages, stream, stream_options: options } = parseBody(PassedChatRequest, body);
  checkHeaders(headers);
  if (messages.length > maxMessages)
    throw new Failure('REQUEST_INVALID', `At most ${maxMessages} messages are read; leave the oldest out.`, { param: 'messages' });
  const includeUsage = options?.include_usage ?? false;
  return {
    model,
    stream: stream ?? false,
    includeUsage,
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !ours.has(name))),
  };
}
