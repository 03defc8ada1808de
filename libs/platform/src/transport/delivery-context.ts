import { BaseRpcContext } from '@nestjs/microservices';
import type { Delivery } from '@conclave/ports';
import type { Logger } from '../logging/logger.js';

/** A handler's context beside its event (`@Ctx()`, or simply its second parameter). */
export class DeliveryContext extends BaseRpcContext<[Delivery]> {
  constructor(
    readonly delivery: Delivery,
    /** Logs with the run and trace id of the event. */
    readonly logger: Logger,
    /** Where a handler notes the ids of the results that it joined; null if its trace is not recorded. */
    readonly joined: string[] | null = null,
  ) {
    super([delivery]);
  }
  /** Aborts when the process shuts down and its grace is over, or when the record is no longer ours. */
  get signal(): AbortSignal {
    return this.delivery.signal;
  }
  /** 1 for the first delivery. */
  get attempt(): number {
    return this.delivery.attempt;
  }
}
