/** Milliseconds after the start at which the first step runs: the work of the start itself is then done. */
const afterMs = 1_000;

/**
 * Runs the steps once, each in a separate turn of the event loop and none before a second has passed, so that first-use costs do not slow
 * the first request. Does not keep the process alive. Returns a function that stops it.
 */
export function warmUpSoon(steps: readonly (() => void)[]): () => void {
  let next = 0;
  let timer: NodeJS.Timeout | null = setTimeout(run, afterMs).unref();
  function run(): void {
    steps[next++]?.();
    timer = next < steps.length ? setTimeout(run, 0).unref() : null;
  }
  return () => {
    if (timer) clearTimeout(timer);
    timer = null;
    next = steps.length;
  };
}
