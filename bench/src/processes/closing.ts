/** Closes opened things in reverse order. A failure does not keep the others open. */
export class Closing {
  private readonly steps: (() => Promise<unknown> | void)[] = [];

  add(close: () => Promise<unknown> | void): void {
    this.steps.push(close);
  }

  /** Throws the first failure after trying all. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.steps.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
