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

  private askAgain(delayMs: number): void {
    setTimeout(() => {
      if (!this.away) return;
      fetch('/health/live', { cache: 'no-store' }).then(
        (answer) => (answer.ok ? this.isHere() : this.askAgain(Math.min(delayMs * 2, longestDelayMs))),
        () => this.askAgain(Math.min(delayMs * 2, longestDelayMs)),
      );
    }, delayMs);
  }
}

export const gateway = new GatewayState();
