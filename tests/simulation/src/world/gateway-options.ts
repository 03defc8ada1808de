import type { Template } from '@conclave/contracts';
import { ProviderAccess } from '@conclave/calls';
import { silentLogger, type Probe } from '@conclave/platform';
import type { Blobs, Embedder, EventLog, Models, RunStream, StateStore, Vectors } from '@conclave/ports';
import type { GatewayMetrics, GatewayOptions } from '@conclave/service-gateway';
import { describeRun, strategyOf } from '@conclave/strategies';
import { quietMetrics } from './quiet-metrics.js';
import { simulatedWebhook } from './simulated-receiver.js';

const metrics = new Proxy({} as GatewayMetrics, { get: () => () => undefined });

/** A simulated gateway: everything behind HTTP is the product's own code. */
export const gatewayOptions = (parts: {
  readonly log: EventLog;
  readonly state: StateStore;
  readonly stream: RunStream;
  readonly models: Models;
  readonly blobs: Blobs;
  readonly vectors: Vectors;
  readonly embedder: Embedder;
  readonly probe: Probe;
  readonly newRunId: () => string;
  /** Templates whose runs a run may start. */
  readonly templates: readonly Template[];
}): GatewayOptions => ({
  ...parts,
  providers: new ProviderAccess({ ...parts, metrics: quietMetrics, logger: silentLogger, processId: 'gateway' }),
  catalogue: { templates: () => parts.templates, resolve: () => null, waitsFor: async () => null, describeModels: () => [] },
  webhooks: { tenants: { [simulatedWebhook]: null }, sender: null },
  keys: null,
  logger: silentLogger,
  metrics,
  describeRun: (state) => describeRun(state, strategyOf),
  openApi: () => Promise.resolve('{}'),
  asyncApi: () => Promise.resolve('{}'),
});
