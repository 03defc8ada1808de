import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { errorBody, Failure, routesAt } from '@conclave/contracts';
import { nestLog, traceRequest } from '@conclave/platform';
import type { Tracer } from '@conclave/ports';
import type { NextFunction, Request, Response } from 'express';
import { FailureFilter, isMessagesPath, sendFailure } from './http/failure-response.js';
import { GatewayModule } from './gateway.module.js';
import { type GatewayOptions, limitsOf, type GatewayMetrics } from './options.js';
import { forPages } from './http/cors.js';
import { refusalOfHost } from './http/hosts.js';
import { longestRequestMs, slowBodies } from './http/slow-bodies.js';

/** Milliseconds a kept-alive connection may be idle: longer than the usual 60 s of load balancers, so that they close first. */
const keepAliveMs = 75_000;

/**
 * The gateway as an application that is not listening yet. `close()` ends open streams in bounded time and does not count their
 * clients as having left. The stores stay open: the caller closes them afterwards.
 */
export async function createGatewayApp(options: GatewayOptions): Promise<INestApplication> {
  const app = await NestFactory.create<NestExpressApplication>(GatewayModule.register(options), {
    logger: nestLog(options.logger),
    bodyParser: false,
    forceCloseConnections: true,
    abortOnError: false,
  });
  configureHttp(app, options);
  return app;
}

/** HTTP set-up for every app that serves the gateway's module. */
export function configureHttp(app: NestExpressApplication, options: GatewayOptions): void {
  const { requestTimeoutMs, retryAfterS } = limitsOf(options);
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  const proxies = options.access?.trustedProxies ?? [];
  if (proxies.length > 0) app.set('trust proxy', [...proxies]);
  app.use(responseHeaders(options.metrics));
  if (options.tracer) app.use(requestSpans(options.tracer));
  app.use(doors(options));
  const origins = options.access?.origins ?? [];
  if (origins.length > 0) app.use(forPages(origins));
  app.use(
    slowBodies(requestTimeoutMs, (response, failure) => {
      options.metrics.onRefused(failure.code);
      sendFailure(response, failure, retryAfterS);
    }),
  );
  app.useGlobalFilters(app.get(FailureFilter));
  const server = app.getHttpServer() as Server;
  server.requestTimeout = longestRequestMs;
  server.headersTimeout = Math.min(requestTimeoutMs, 20_000);
  server.keepAliveTimeout = keepAliveMs;
  server.on('clientError', answerUnreadable);
}

/** Answers malformed HTTP in the error shape if the connection is still writable. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: ServerResponse | null }): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  const [line, sentence] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'The headers are too long.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'The request did not arrive in time.']
        : ['400 Bad Request', 'The request is not valid HTTP.'];
  const body = JSON.stringify(errorBody(new Failure('REQUEST_INVALID', sentence)));
  socket.end(
    `HTTP/1.1 ${line}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-conclave: 1\r\nx-request-id: req_unread\r\nx-should-retry: false\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Runs before every route, known or not: while no keys are required, refuses foreign hosts and origins. */
function doors(options: GatewayOptions) {
  const { allowedHosts = [], origins = [], open = false } = options.access ?? {};
  const rules = { allowedHosts, origins, open };
  return (request: Request, response: Response, next: NextFunction): void => {
    const failure = options.keys === null ? refusalOfHost(request, rules) : null;
    if (failure === null) return next();
    options.metrics.onRefused(failure.code);
    sendFailure(response, failure, limitsOf(options).retryAfterS);
  };
}

/** Method and path in the route table; `other` for unknown ones, so that the number of labels stays bounded. */
function labelsOf({ method, path }: Request): { readonly method: string; readonly route: string } {
  const matching = routesAt(path);
  return { method: matching.some((route) => route.method === method) ? method : 'other', route: matching[0]?.path ?? 'other' };
}

/** One span per request that starts a run or a call, or whose client sends a trace. */
function requestSpans(tracer: Tracer) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { traceparent } = request.headers;
    traceRequest(tracer, typeof traceparent === 'string' ? traceparent : undefined, (traced) => {
      response.once('close', () => traced.ended({ ...labelsOf(request), status: response.headersSent ? response.statusCode : 499 }));
      next();
    });
  };
}

/** Sets the headers of every response, errors included, and records one observation per request. Keeps a client's `x-request-id`. */
function responseHeaders(metrics: GatewayMetrics) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const began = performance.now();
    const given = request.headers['x-request-id'];
    response.setHeader(
      'x-request-id',
      typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : `req_${randomUUID().replaceAll('-', '')}`,
    );
    // Anthropic's clients read their request id here.
    if (isMessagesPath(request.path)) response.setHeader('request-id', String(response.getHeader('x-request-id')));
    response.setHeader('x-conclave', '1');
    response.once('close', () => {
      metrics.onRequest({
        ...labelsOf(request),
        status: response.headersSent ? response.statusCode : 499,
        ms: performance.now() - began,
      });
    });
    next();
  };
}
