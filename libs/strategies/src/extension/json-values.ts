/** Deepest nesting that is read: a deeper value is assumed to contain itself. */
const deepest = 60;

/**
 * Says where a value differs from what JSON would return, as a phrase such as `own.seen is a Map`; null if it does not. Members that are
 * undefined may be left out.
 */
export function jsonFault(value: unknown, path: string, depth = 0): string | null {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${path} is ${value}`;
  if (typeof value !== 'object') return `${path} is ${value === undefined ? 'undefined' : `a ${typeof value}`}`;
  if (depth > deepest) return `${path.slice(0, 60)}… is nested too deeply, or contains itself`;
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) {
      const fault = jsonFault(one, `${path}[${index}]`, depth + 1);
      if (fault) return fault;
    }
    return null;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
    return `${path} is a ${typeof name === 'string' ? name : 'object of a class'}`;
  }
  for (const [key, one] of Object.entries(value)) {
    if (one === undefined) continue;
    const fault = jsonFault(one, `${path}.${key}`, depth + 1);
    if (fault) return fault;
  }
  return null;
}

/** Freezes a value and everything in it. Skips values that are already frozen, so that a state costs only what is new in it. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  Object.values(value).forEach(frozen);
  return value;
}

/** The kind of a value, for a sentence about a wrong value. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof (value as { then?: unknown }).then === 'function') return 'a promise (it must not be `async`)';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
