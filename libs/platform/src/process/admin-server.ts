import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readiness } from '@conclave/contracts';
import type { Metrics } from '../metrics/metrics.js';
import type { ReadinessChecks } from './readiness.js';

/** A strategy or a capability that an extension brought to a process. */
export type LoadedExtension = NonNullable<Readiness['extensions']>[number];

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Serves /health/live, /health/ready and /metrics for a process without another HTTP server. Rejects if the port is taken. */
export async function openAdminServer(options: {
  readonly host: string;
  readonly port: number;
  readonly readiness: ReadinessChecks;
  readonly metrics: Metrics;
  /** What extensions brought to the process, so that processes can be compared. */
  readonly extensions?: readonly LoadedExtension[];
}): Promise<AdminServer> {
  const { readiness, metrics, extensions = [] } = options;
  const loaded = extensions.length > 0 ? { extensions } : {};
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const path = (request.url ?? '/').split('?')[0];
      if (request.method !== 'GET') return json(response, 405, { error: 'This port only answers GET.' });
      if (path === '/health/live') return json(response, 200, { status: 'live' });
      if (path === '/health/ready') {
        const problems = await readiness.problems();
        const isReady = problems.length === 0;
        return json(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', problems, ...loaded });
      }
      if (path === '/metrics') {
        response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.text());
        return;
      }
      json(response, 404, { error: 'Known paths: /health/live, /health/ready, /metrics.' });
    };
    answer().catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else json(response, 500, { error: error instanceof Error ? error.message : String(error) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
