/**
 * Milliseconds that a server asks to wait in its header `Retry-After`, in seconds or as HTTP date; `now` in milliseconds since 1970. Null when it is absent
 * or unreadable; never negative.
 */
export function waitAskedFor(header: string | null | undefined, now: number): number | null {
  if (!header) return null;
  const ms = /^\s*\d{1,9}(\.\d+)?\s*$/.test(header) ? Math.ceil(Number(header) * 1_000) : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
