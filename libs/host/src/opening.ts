import type { StoreCounter } from '@conclave/adapter-sqlite';
import type { Loaded, Observers } from '@conclave/platform';
import type { Folding } from '@conclave/ports';
import type { ModelSearch } from './open-models.js';

export type AppName = 'gateway' | 'planner' | 'experts' | 'merger' | 'graph-ingest' | 'standalone';

export interface OpenPortsOptions {
  readonly loaded: Loaded;
  readonly observers: Observers;
  readonly service: AppName;
  readonly processId: string;
  /** Ports to search for local model servers; tests pass closed ports. */
  readonly localServers?: ModelSearch['ports'];
  /** Reports the embedded store's operations, for measurements. */
  readonly storeCounter?: StoreCounter;
  /** Folds recorded steps of runs, so that the embedded store need not write every state. */
  readonly folding?: Folding;
}
