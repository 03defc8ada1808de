/**
 * Polls until `condition` returns something other than false, null or undefined, and returns it. Throws with `what` after
 * `timeoutMs` (5 s), with the last error of the condition as cause.
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 5_000, everyMs = 10 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) return value as Exclude<T, false | null | undefined>;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`, { cause });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
