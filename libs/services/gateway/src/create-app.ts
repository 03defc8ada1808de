import 'reflect-metadata';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { errorBody, Failure } from '@conclave/contracts';
import { nestLog } from '@conclave/platform';
import { doors } from './http/doors.js';
import { FailureFilter } from './http/failure-response.js';
import { responseHeaders } from './http/response-headers.js';
import { GatewayModule } from './gateway.module.js';
import { type GatewayOptions, limitsOf } from './options.js';

/** Milliseconds a kept connection may be idle: longer than the 60 s of usual load balancers, so that they close first. */
const keepAliveMs = 75_000;

/**
 * The gateway as an application that is not listening yet. `close()` ends open streams in a bounded time, without
 * taking that for clients that left. The stores stay open: whoever opened them closes them afterwards.
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

/** What every app that serves the gateway's module needs on its HTTP side. */
export function configureHttp(app: NestExpressApplication, options: GatewayOptions): void {
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(responseHeaders(options.metrics));
  app.use(doors(options));
  app.useGlobalFilters(app.get(FailureFilter));
  const server = app.getHttpServer() as Server;
  const { requestTimeoutMs } = limitsOf(options);
  server.requestTimeout = requestTimeoutMs;
  server.headersTimeout = Math.min(requestTimeoutMs, 20_000);
  server.keepAliveTimeout = keepAliveMs;
  server.on('clientError', answerUnreadable);
}

/** A request that is no HTTP still gets the error shape, where its connection can be written to. */
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
