import type { StoreCounter } from '@conclave/adapter-sqlite';
import type { Loaded, Observers } from '@conclave/platform';
import type { ModelSearch } from './open-models.js';

export type ServiceName = 'gateway' | 'planner' | 'experts' | 'merger' | 'graph-ingest' | 'standalone';

export interface OpenPortsOptions {
  readonly loaded: Loaded;
  readonly observers: Observers;
  readonly service: ServiceName;
  readonly processId: string;
  /** Where local model servers are looked for; tests give closed ports. */
  readonly localServers?: ModelSearch['ports'];
  /** Told what the embedded store does; only for those who count it. */
  readonly storeCounter?: StoreCounter;
}
