import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookEvent } from '@conclave/contracts';
import { Webhook } from 'standardwebhooks';
import type { Delivery } from '../evidence/evidence.js';

/** Name in the configuration of every system that has a receiver. */
export const receiverName = 'told';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3kTq0m9bVxA=';
const secretVariable = 'TOLD_SECRET';

/**
 * Takes webhooks and verifies them with the reference implementation of "Standard Webhooks". It refuses the first delivery of every run, so
 * that each one is retried, and a process may die between two attempts.
 */
export class WebhookReceiver {
  readonly deliveries: Delivery[] = [];
  private readonly refused = new Set<string>();

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const id = String(request.headers['webhook-id']);
        const isFirst = !this.refused.has(id);
        this.refused.add(id);
        this.deliveries.push({ id, at: Date.now(), refused: isFirst, ...verified(body, request.headers as Record<string, string>) });
        response.writeHead(isFirst ? 503 : 204).end();
      });
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(createServer());
    await new Promise<void>((resolve, reject) => receiver.server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  /** Sections of conclave.yaml. */
  configuration(): Readonly<Record<string, unknown>> {
    const { port } = this.server.address() as AddressInfo;
    return {
      webhooks: { [receiverName]: { url: `http://127.0.0.1:${port}`, secret_env: secretVariable } },
      webhook_delivery: { retry_s: 0.2, longest_retry_s: 2 },
    };
  }
  readonly env: Readonly<Record<string, string>> = { [secretVariable]: secret };

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** The run and the outcome that a delivery names; both null if its signature or its body is invalid. */
function verified(body: string, headers: Record<string, string>): Pick<Delivery, 'runId' | 'outcome'> {
  try {
    const { data } = new Webhook(secret).verify(body, headers) as WebhookEvent;
    return { runId: data.id, outcome: data.outcome };
  } catch {
    // The checker reports it.
    return { runId: null, outcome: null };
  }
}
