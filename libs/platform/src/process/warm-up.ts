/** Milliseconds after the start at which the first step runs: then what the start itself wanted is done. */
const afterMs = 1_000;

/**
 * Runs the steps once, each in a turn of its own and none before a second has passed, so that what is slow only the first time is not
 * slow for whoever asks first. Keeps no process alive. Gives what stops it.
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
