import type { CrashPointName } from '@conclave/contracts';
import type { ServiceName } from '@conclave/test-support/system';

/** A process that dies, and where. */
export interface Cell {
  readonly service: ServiceName;
  readonly point: CrashPointName;
}
