import * as z from 'zod';
import type { Failure } from '../failure.js';
import { type FailureCode, failures } from '../failures.js';
import type { MessagesError } from './messages.js';

/** The error shape of this gateway, at every status and inside streams, except for the routes of Anthropic's API. */
export const ErrorBody = z.object({
  error: z.object({
    message: z.string().describe('what happened and what to do, for people'),
    type: z.string().describe('class of the failure, as OpenAI clients know it'),
    param: z.string().nullable().describe('field of the request with the mistake, such as `messages[0].role`, or null'),
    code: z.string().nullable().describe('code of the failure table, or a code that OpenAI clients know'),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/** Failures for which clients expect OpenAI's code; every other failure keeps its own. */
const openAiCodes: Partial<Record<FailureCode, string>> = {
  MODEL_NOT_FOUND: 'model_not_found',
  UNAUTHENTICATED: 'invalid_api_key',
  CONTEXT_OVERFLOW: 'context_length_exceeded',
  QUESTION_TOO_LONG: 'context_length_exceeded',
  PROVIDER_RATE_LIMITED: 'rate_limit_exceeded',
  RATE_LIMITED: 'rate_limit_exceeded',
  BUDGET_SPENT: 'insufficient_quota',
};

/** OpenAI error object of a failure. A 401 contains no details. */
export function errorBody(failure: Failure): ErrorBody {
  const { upstream } = failure.options;
  if (upstream) {
    const { message, type, param, code } = upstream;
    return { error: { message, type, param, code } };
  }
  return {
    error: {
      message: failure.code === 'UNAUTHENTICATED' ? failures.UNAUTHENTICATED.message : failure.message,
      type: failure.spec.type,
      param: failure.options.param ?? null,
      code: openAiCodes[failure.code] ?? failure.code,
    },
  };
}

/** Anthropic's classes of errors by status. */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** Anthropic's error object of a failure. */
export function messagesError(failure: Failure, requestId: string | null): MessagesError {
  const { message, code } = errorBody(failure).error;
  const status = failure.options.upstream?.status ?? failure.spec.status;
  const type = messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { type: 'error', error: { type, message, code }, request_id: requestId };
}
