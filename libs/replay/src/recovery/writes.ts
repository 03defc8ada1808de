/** Writes that run beside each other, at most so many at a time. */
const atOnce = 32;

/** Runs independent writes side by side. The first failure is thrown by the next `add`, and by `settled`. */
export class Writes {
  private readonly running = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | null = null;

  /** Resolves when there is room for it, not when it is done. */
  async add(write: () => Promise<void>): Promise<void> {
    while (this.running.size >= atOnce) await Promise.race(this.running);
    if (this.failure) throw this.failure.error;
    const one: Promise<void> = write()
      .catch((error: unknown) => void (this.failure ??= { error }))
      .finally(() => this.running.delete(one));
    this.running.add(one);
  }

  async settled(): Promise<void> {
    await Promise.all(this.running);
    if (this.failure) throw this.failure.error;
  }
}
