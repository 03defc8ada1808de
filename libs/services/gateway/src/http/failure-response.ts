import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import { errorBody, Failure, messagesError, methodsOf, Usage } from '@conclave/contracts';
import type { Request, Response } from 'express';
import { GATEWAY_OPTIONS, type GatewayOptions, limitsOf } from '../options.js';

/** Longest Retry-After in seconds: openai-node ignores longer ones. */
const longestRetryAfterS = 60;

/** Converts any thrown value to a failure of the table. */
export function asFailure(error: unknown, path = ''): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof HttpException) {
    if (error.getStatus() === 404) return methodsOf(path).length > 0 ? new Failure('METHOD_NOT_ALLOWED') : new Failure('ROUTE_NOT_FOUND');
    if (error.getStatus() < 500) return new Failure('REQUEST_INVALID', undefined, { cause: error });
  }
  return new Failure('INTERNAL', undefined, { cause: error });
}

/** The body in the error shape of the called API. */
function bodyOf(failure: Failure, response: Response): object {
  if (!isMessagesPath(response.req.path)) return errorBody(failure);
  return messagesError(failure, String(response.getHeader('x-request-id') ?? ''));
}

/** Whether the path belongs to Anthropic's API. */
export const isMessagesPath = (path: string): boolean => /^\/v1\/messages(?:\/|$)/.test(path);

/** Whether a repeat would pay again for work that was paid: SDKs retry by themselves. */
function isPaid({ spec, options: { paid = false, context } }: Failure): boolean {
  const used = Usage.safeParse(context?.['usage']);
  return paid || spec.paid || (used.success && used.data.prompt + used.data.completion > 0);
}

/**
 * Writes a failure as the response. `paidFor`: a retry would start the work again. When white space of a JSON answer was already sent, the head
 * reported success, so only a reset of the connection can show the failure.
 */
export function sendFailure(response: Response, failure: Failure, retryAfterS: number, paidFor = false): void {
  if (response.headersSent) {
    response.socket?.resetAndDestroy();
    response.destroy();
    return;
  }
  const status = failure.options.upstream?.status ?? failure.spec.status;
  if (status === 429 || status === 503) {
    const asked = failure.options.retryAfterMs === undefined ? retryAfterS : Math.ceil(failure.options.retryAfterMs / 1000);
    response.setHeader('retry-after', String(Math.min(longestRetryAfterS, Math.max(1, asked))));
  }
  if (paidFor || isPaid(failure) || !failure.retriable) response.setHeader('x-should-retry', 'false');
  const body = Buffer.from(JSON.stringify(bodyOf(failure, response)));
  response.statusCode = status;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', body.length);
  // The rest of an unread body must not be parsed as the next request on this connection.
  if (!response.req.complete) response.setHeader('connection', 'close');
  response.end(body);
}

/** Answers every exception of a handler in the error shape of its API. */
@Catch()
export class FailureFilter implements ExceptionFilter {
  constructor(@Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const failure = asFailure(error, request.path);
    if (failure.spec.status >= 500) {
      this.options.logger[failure.code === 'INTERNAL' ? 'error' : 'warn']('request failed', {
        code: failure.code,
        requestId: response.getHeader('x-request-id'),
        error: failure.options.cause ?? failure,
      });
    }
    if (response.headersSent || response.destroyed) {
      // Handlers end their own streams; an unended response here is a bug, which cutting the connection reveals.
      if (!response.writableEnded) response.destroy();
      return;
    }
    if (failure.code === 'METHOD_NOT_ALLOWED') response.setHeader('allow', methodsOf(request.path).join(', '));
    this.options.metrics.onRefused(failure.code);
    sendFailure(response, failure, limitsOf(this.options).retryAfterS);
  }
}
