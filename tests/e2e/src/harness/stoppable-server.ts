import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query, decoded. */
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** `held`: the request is accepted and never answered. `cut`: its connection breaks. A text is sent unchanged, anything else as JSON. */
export type Served =
  | 'held'
  | 'cut'
  | {
      readonly status?: number;
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string | object;
    };

/** An HTTP server that a test stops in the middle of a request, and starts again on its port. */
export class StoppableServer {
  readonly asked: ReceivedRequest[] = [];
  private server: Server | null = null;
  private waiting: { fits: (asked: ReceivedRequest) => boolean; resolve: () => void }[] = [];

  private constructor(private readonly answer: (asked: ReceivedRequest) => Served | Promise<Served>) {}

  static async start(answer: (asked: ReceivedRequest) => Served | Promise<Served>): Promise<StoppableServer> {
    const one = new StoppableServer(answer);
    await one.listen(0);
    return one;
  }

  /** Address without a path. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }
  port = 0;

  /** Resolves when a matching request arrives, or at once if one has arrived before. */
  arrival(fits: (asked: ReceivedRequest) => boolean): Promise<void> {
    if (this.asked.some(fits)) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push({ fits, resolve }));
  }

  /** Cuts every connection; from now on the port refuses. Safe to call twice. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (!server) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  async restart(): Promise<void> {
    if (!this.server) await this.listen(this.port);
  }

  private async listen(port: number): Promise<void> {
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const path = decodeURIComponent((request.url ?? '').replaceAll('+', ' '));
        const asked = { method: request.method ?? '', path, body, headers: request.headers };
        this.asked.push(asked);
        this.waiting = this.waiting.filter(({ fits, resolve }) => !fits(asked) || (resolve(), false));
        // If no answer can be made, the connection breaks, so that the caller notices.
        Promise.resolve(this.answer(asked)).then(
          (served) => send(response, served),
          (error: Error) => response.destroy(error),
        );
      });
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    this.server = server;
    this.port = (server.address() as AddressInfo).port;
  }
}

function send(response: ServerResponse, served: Served): void {
  if (served === 'held') return;
  if (served === 'cut') return void response.destroy();
  const text = typeof served.body === 'string' ? served.body : JSON.stringify(served.body);
  response.writeHead(served.status ?? 200, { 'content-type': served.type ?? 'application/json', ...served.headers }).end(text);
}
