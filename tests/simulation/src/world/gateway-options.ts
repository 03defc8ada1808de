import type { Caller, Template } from '@conclave/contracts';
import { ProviderAccess } from '@conclave/calls';
import { silentLogger, type Probe } from '@conclave/platform';
import type { Blobs, Embedder, EventLog, KnowledgeGraph, Models, RunStream, StateStore, Vectors } from '@conclave/ports';
import type { ApiKeys, GatewayMetrics, GatewayOptions, KeyOwner } from '@conclave/service-gateway';
import { describeRun, strategyOf } from '@conclave/strategies';
import { quietMetrics } from './quiet-metrics.js';
import { simulatedWebhook } from './simulated-receiver.js';

/** A key names its tenant and its actor. */
export const keyFor = ({ tenant, actor }: Caller): string => `${tenant} ${actor}`;
const ownerOf = (key: string | null): KeyOwner | null => {
  const [tenant, actor] = (key ?? '').split(' ');
  return tenant && actor ? { tenant, actor, name: actor, role: 'user', keyId: actor } : null;
};
const simulatedKeys: ApiKeys = { identify: async (key) => ownerOf(key), identifyHash: async () => null };

const metrics = new Proxy({} as GatewayMetrics, { get: () => () => undefined });

/** A simulated gateway: everything behind HTTP is the product's own code. */
export const gatewayOptions = (parts: {
  readonly log: EventLog;
  readonly state: StateStore;
  readonly stream: RunStream;
  readonly models: Models;
  readonly blobs: Blobs;
  readonly graph: KnowledgeGraph;
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
  keys: simulatedKeys,
  logger: silentLogger,
  metrics,
  describeRun: (state) => describeRun(state, strategyOf),
  openApi: () => Promise.resolve('{}'),
  asyncApi: () => Promise.resolve('{}'),
});
