import type { ProbePoint } from '@conclave/platform';
import type { ServiceName } from '@conclave/test-support/system';

/** A process that dies, and where. */
export interface Cell {
  readonly service: ServiceName;
  readonly point: ProbePoint;
}
