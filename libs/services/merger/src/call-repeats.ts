import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { METRICS, type Metrics } from '@conclave/platform';
import { STATE, type StateStore } from '@conclave/ports';

/** Reports calls repeated because a process died during them; counted in the state store, since counters die with their process. */
@Injectable()
export class CallRepeats implements OnApplicationBootstrap {
  private readonly shown = new Map<string, number>();

  constructor(
    @Inject(STATE) private readonly state: StateStore,
    @Inject(METRICS) private readonly metrics: Pick<Metrics, 'count' | 'onCollect'>,
  ) {}

  onApplicationBootstrap(): void {
    this.metrics.onCollect(() => this.show());
  }

  private async show(): Promise<void> {
    for (const [purpose, calls] of Object.entries(await this.state.journal.repeats())) {
      const more = calls - (this.shown.get(purpose) ?? 0);
      // A lower count means another store with its own history.
      if (more > 0) this.metrics.count('duplicate_calls_total', { purpose }, more);
      this.shown.set(purpose, calls);
    }
  }
}
