/** What the kit makes, and so what a module may return. */
export type Made = 'strategy' | 'capability';

const made = new WeakMap<object, Made>();

/** Remembers that the kit made an object: it has been checked, and its functions are called with bounds. */
export function madeAs<T extends object>(kind: Made, value: T): T {
  made.set(value, kind);
  return value;
}

/** What the kit made a value as; undefined for any other value, also a changed copy of a made one. */
export const kindMade = (value: unknown): Made | undefined => (typeof value === 'object' && value !== null ? made.get(value) : undefined);
