/**
 * Milliseconds that a server asks to wait in its header `Retry-After`, which contains seconds or an HTTP date; never negative. Null if it
 * is absent or unreadable. `now` is in milliseconds since 1970.
 */
export function waitAskedFor(header: string | null | undefined, now: number): number | null {
  if (!header) return null;
  const ms = /^\s*\d{1,9}(\.\d+)?\s*$/.test(header) ? Math.ceil(Number(header) * 1_000) : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
