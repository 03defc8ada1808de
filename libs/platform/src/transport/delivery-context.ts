import { BaseRpcContext } from '@nestjs/microservices';
import type { Delivery } from '@conclave/ports';
import type { Logger } from '../logging/logger.js';

/** The context that a handler gets with its event (`@Ctx()`, or simply its second parameter). */
export class DeliveryContext extends BaseRpcContext<[Delivery]> {
  private own: Logger | null = null;

  /** `makeLogger` is called only if a handler logs, which few do. */
  constructor(
    readonly delivery: Delivery,
    private readonly makeLogger: () => Logger,
    /** Where a handler records the ids of the results that it joined; null if its trace is not recorded. */
    readonly joined: string[] | null = null,
  ) {
    super([delivery]);
  }
  /** Logs with the run and trace id of the event. */
  get logger(): Logger {
    return (this.own ??= this.makeLogger());
  }
  /** Aborts when the process shuts down and its grace period is over. */
  get signal(): AbortSignal {
    return this.delivery.signal;
  }
  /** Whether a person had the record delivered again after it became a dead letter. */
  get redriven(): boolean {
    return this.delivery.redriven === true;
  }
  /** 1 for the first delivery. */
  get attempt(): number {
    return this.delivery.attempt;
  }
}
