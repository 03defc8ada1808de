/** Whether the gateway answers. While it does not, it is probed at growing intervals until it does. */
type Listener = () => void;

const firstDelayMs = 1_000;
const longestDelayMs = 15_000;

class GatewayState {
  private away = false;
  private readonly listeners = new Set<Listener>();
  private readonly healed = new Set<Listener>();

  readonly subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly isGone = (): boolean => this.away;

  /** Called each time the gateway answers again. */
  onHealed(listener: Listener): void {
    this.healed.add(listener);
  }

  isHere(): void {
    if (!this.away) return;
    this.away = false;
    for (const listener of [...this.listeners, ...this.healed]) listener();
  }

  isAway(): void {
    if (this.away) return;
    this.away = true;
    for (const listener of this.listeners) listener();
    this.askAgain(firstDelayMs);
  }

  /** Resolves when the gateway answers, to whether it was away until then. */
  async whenHere(): Promise<boolean> {
    if (await this.answers()) {
      this.isHere();
      return false;
    }
    this.isAway();
    return new Promise((resolve) => {
      const unsubscribe = this.subscribe(() => {
        if (this.away) return;
        unsubscribe();
        resolve(true);
      });
    });
  }

  private askAgain(delayMs: number): void {
    setTimeout(() => {
      if (!this.away) return;
      void this.answers().then((answers) => (answers ? this.isHere() : this.askAgain(Math.min(delayMs * 2, longestDelayMs))));
    }, delayMs);
  }

  private answers(): Promise<boolean> {
    return fetch('/health/live', { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

export const gateway = new GatewayState();
