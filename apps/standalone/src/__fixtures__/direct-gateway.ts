import type { AddressInfo } from 'node:net';
import type { CallRecorded } from '@conclave/contracts';
import { ProviderAccess } from '@conclave/calls';
import { openLogger, openMetrics, silentLogger } from '@conclave/platform';
import { MemoryBroker, MemoryStores, type MemoryLog, type Models } from '@conclave/ports';
import { createGatewayApp, type GatewayMetrics, type GatewayOptions } from '@conclave/service-gateway';

type App = Awaited<ReturnType<typeof createGatewayApp>>;

/** A gateway on a free port that knows the models of one provider, `fake`, and no template. */
export class DirectGateway {
  private constructor(
    private readonly app: App,
    private readonly broker: MemoryBroker,
    private readonly log: MemoryLog,
    readonly url: string,
  ) {}

  static async open(models: Models, more: Partial<GatewayOptions> = {}): Promise<DirectGateway> {
    const broker = new MemoryBroker();
    const log = broker.connect();
    const { state, stream } = new MemoryStores().connect('gateway');
    const app = await createGatewayApp({
      catalogue: {
        templates: () => [],
        resolve: (name) => (name.endsWith('@fake') ? { kind: 'model', ref: name } : null),
        waitsFor: async () => null,
        describeModels: () => [],
      },
      log,
      state,
      stream,
      models,
      providers: new ProviderAccess({ state, models, metrics: openMetrics(), logger: silentLogger, processId: 'gateway' }),
      keys: null,
      logger: openLogger({ level: 'error', sinks: [] }),
      metrics: new Proxy({} as GatewayMetrics, { get: () => () => undefined }),
      describeRun: () => {
        throw new Error('A direct call is no run.');
      },
      openApi: () => Promise.resolve('{}'),
      asyncApi: () => Promise.resolve('{}'),
      ...more,
    });
    await app.listen(0, '127.0.0.1');
    return new DirectGateway(app, broker, log, `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`);
  }

  post(body: unknown): Promise<Response> {
    return fetch(`${this.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** Calls recorded in the audit. */
  recorded(): readonly CallRecorded['data'][] {
    return this.broker.records('audit').map(({ raw }) => JSON.parse(raw!.toString()) as CallRecorded['data']);
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.log.close();
  }
}
