import type { Service } from '@conclave/contracts';

export interface CrashPoint {
  readonly service: Service;
  /** `<port>.<method>`, or `point.<name>` for a point inside the process. */
  readonly point: string;
  readonly side: 'before' | 'after';
}
/** What a scenario needs for the point to be passed. */
export type Need = 'outage' | 'freeze' | 'restart' | 'poison' | 'stall' | 'fault' | 'large' | 'cancel';
export interface CrashTarget extends CrashPoint {
  /** Which time it is passed. */
  readonly nth: number;
  readonly needs: Need | null;
}
export interface CoverageNote extends CrashPoint {
  readonly crashed: boolean;
}
