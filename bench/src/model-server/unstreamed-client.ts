import { Agent, request } from 'node:http';

export interface UnstreamedClientOptions {
  /** Base URL with /v1. */
  readonly url: string;
  readonly model: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Connections that are kept open. */
  readonly connections: number;
}

const answerWithinMs = 60_000;
/** Makes the body of a request about 1 KB. */
const prompt = 'Say something about the sea. '.repeat(33);

/** Asks unstreamed chat questions of 1 KB over connections that stay open. */
export class UnstreamedClient {
  private readonly agent: Agent;
  private readonly body: string;

  constructor(private readonly options: UnstreamedClientOptions) {
    this.agent = new Agent({ keepAlive: true, maxSockets: options.connections });
    this.body = JSON.stringify({ model: options.model, messages: [{ role: 'user', content: prompt }] });
  }

  /** Milliseconds until the whole answer was read. Throws for any status other than 200 and any answer other than `expected`. */
  async ask(expected: string): Promise<number> {
    const from = performance.now();
    const { status, text } = await this.send();
    const took = performance.now() - from;
    const content =
      status === 200 ? (JSON.parse(text) as { choices?: { message?: { content?: string } }[] }).choices?.[0]?.message?.content : null;
    if (content !== expected) throw new Error(`${status} instead of the model's answer: ${text.slice(0, 500)}`);
    return took;
  }

  close(): void {
    this.agent.destroy();
  }

  private send(): Promise<{ readonly status: number; readonly text: string }> {
    const { url, headers } = this.options;
    return new Promise((resolve, reject) => {
      const asked = request(
        `${url}/chat/completions`,
        {
          agent: this.agent,
          method: 'POST',
          timeout: answerWithinMs,
          headers: {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(this.body)),
            authorization: 'Bearer bench',
            ...headers,
          },
        },
        (response) => {
          let text = '';
          response
            .setEncoding('utf8')
            .on('data', (part: string) => (text += part))
            .once('end', () => resolve({ status: response.statusCode ?? 0, text }))
            .once('error', reject);
        },
      );
      asked.once('timeout', () => asked.destroy(new Error(`No answer within ${answerWithinMs / 1000} s.`)));
      asked.once('error', reject).end(this.body);
    });
  }
}
