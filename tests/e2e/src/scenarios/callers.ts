import type { DocumentView, InsightList, InsightView, RunView, StreamEntry } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { type System, entriesOf, SseStream } from '@conclave/test-support/system';

/** Keys that the system under test knows, by the names of their owners. */
export const keys = { ann: 'sk-ann-5d1c', bob: 'sk-bob-77e0', cyd: 'sk-cyd-91aa', dee: 'sk-dee-40b3' } as const;

/** Ann may see prompts, Bob of the same tenant may not, Cyd belongs to another tenant, Dee to one that has no data. */
export const keySettings = {
  ann: { key_env: 'KEY_OF_ANN', detail: 'full' },
  bob: { key_env: 'KEY_OF_BOB' },
  cyd: { key_env: 'KEY_OF_CYD', tenant: 'elsewhere', detail: 'full' },
  dee: { key_env: 'KEY_OF_DEE', tenant: 'empty' },
} as const;
export const keyVariables = { KEY_OF_ANN: keys.ann, KEY_OF_BOB: keys.bob, KEY_OF_CYD: keys.cyd, KEY_OF_DEE: keys.dee } as const;

/** The HTTP API as used by the owner of one key. */
export class KeyedCaller {
  constructor(
    private readonly system: () => System,
    private readonly key: string,
  ) {}

  async send(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(`${this.system().url()}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Uploads the bytes of a file, like a browser that does not know the media type, and waits until it can be searched. */
  async uploaded(collection: string, name: string, bytes: Uint8Array): Promise<DocumentView> {
    const path = `/collections/${collection}/documents`;
    const response = await fetch(`${this.system().url()}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/octet-stream', 'x-document-name': name },
      body: new Uint8Array(bytes),
    });
    const { id } = (await response.json()) as DocumentView;
    return until(
      `the document ${name}`,
      async () => {
        const document = (await this.send('GET', `${path}/${id}`)).body as DocumentView;
        if (document.status === 'failed') throw new Error(document.problem ?? 'It failed.');
        return document.status === 'ready' && document;
      },
      { timeoutMs: 60_000, everyMs: 100 },
    );
  }

  /** Asks and returns the ended run. */
  async answered(model: string, input: string, conclave: object = {}): Promise<RunView> {
    const started = await this.send('POST', '/runs', { model, input, conclave });
    if (started.status !== 202) throw new Error(`${started.status}: ${JSON.stringify(started.body)}`);
    const { id } = started.body as { id: string };
    return until(
      `the end of ${id}`,
      async () => {
        const run = (await this.send('GET', `/runs/${id}`)).body as RunView;
        return run.terminal && run;
      },
      { timeoutMs: 40_000, everyMs: 50 },
    );
  }

  async events(runId: string): Promise<readonly StreamEntry[]> {
    const stream = await SseStream.open(`${this.system().url()}/v1/runs/${runId}/events`, { headers: { 'x-api-key': this.key } });
    return entriesOf(await stream.end());
  }

  async insight(id: string): Promise<InsightView> {
    return (await this.send('GET', `/knowledge/insights/${id}`)).body as InsightView;
  }

  /** Waits until the knowledge graph contains what the run taught. */
  async taught(runId: string): Promise<InsightView> {
    return until(
      `what ${runId} taught`,
      async () => ((await this.send('GET', `/knowledge/insights?run=${runId}`)).body as InsightList).data[0],
      { timeoutMs: 20_000, everyMs: 100 },
    );
  }
}
