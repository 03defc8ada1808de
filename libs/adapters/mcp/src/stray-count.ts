import { performance } from 'node:perf_hooks';
import { Failure } from '@conclave/contracts';
import type { ServerBounds } from './bounds.js';

/** Counts what a server sends that is no message of the protocol. */
export class StrayCount {
  private since = 0;
  private strays = 0;
  private ever = false;

  constructor(private readonly bounds: ServerBounds) {}

  /** Counts one more. `first`: there was none before. `tooMany`: there were more than `strayLines` in `strayMs`. */
  add(): { readonly first: boolean; readonly tooMany: boolean } {
    const first = !this.ever;
    this.ever = true;
    const now = performance.now();
    if (now - this.since > this.bounds.strayMs) [this.since, this.strays] = [now, 0];
    this.strays += 1;
    return { first, tooMany: this.strays > this.bounds.strayLines };
  }
}

export const doesNotFollow = (what: string): Failure =>
  new Failure('TOOL_SERVER_UNAVAILABLE', `${what} does not follow the protocol of MCP servers.`);
