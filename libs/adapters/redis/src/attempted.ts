/** Returns the result of a computation, or the error it threw. */
export function attempted<T>(compute: () => T): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown } {
  try {
    return { ok: true, value: compute() };
  } catch (error) {
    return { ok: false, error };
  }
}
