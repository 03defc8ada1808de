/** Hint channel on which workers report their load. */
export const loadChannel = 'load';

/** Reported by a worker every few seconds, as JSON. */
export interface LoadReport {
  /** Process and service: a later report of the same worker replaces the earlier one. */
  readonly worker: string;
  /** By task class: its number of slots, and how many milliseconds its oldest waiting task has waited. */
  readonly classes: Readonly<Record<string, { readonly slots: number; readonly waitMs: number }>>;
}

/** Null for an invalid report; the reader ignores it. */
export function readLoadReport(payload: string): LoadReport | null {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    // Written by another version, or by a foreign process.
    return null;
  }
  const { worker, classes } = (value ?? {}) as Partial<Record<keyof LoadReport, unknown>>;
  if (typeof worker !== 'string' || typeof classes !== 'object' || classes === null) return null;
  const known = Object.entries(classes as Record<string, unknown>).flatMap(([name, load]) => {
    const { slots, waitMs } = (load ?? {}) as { slots?: unknown; waitMs?: unknown };
    return isCount(slots) && slots > 0 && isCount(waitMs) ? [[name, { slots, waitMs }] as const] : [];
  });
  return { worker, classes: Object.fromEntries(known) };
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
