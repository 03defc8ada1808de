/** Things that were opened, ended in reverse order. One that fails to end does not keep the others open. */
export class Closing {
  private readonly steps: (() => Promise<unknown> | void)[] = [];

  add(close: () => Promise<unknown> | void): void {
    this.steps.push(close);
  }

  /** Throws the first failure after everything was tried. */
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
