import type { StoreKind } from '../faults/storm-plan.js';
import { never } from './storm.js';
import type { LivingProcess } from './surroundings.js';

/**
 * One call of a process to the outside; faults are decided before and after its effect. A dead process has no effect outside
 * and receives nothing.
 */
export async function through<T>(
  process: LivingProcess,
  point: string,
  store: StoreKind,
  args: readonly unknown[],
  act: () => Promise<T> | T,
): Promise<T> {
  if (process.dead) return never();
  // Waiting for a timer does not count as work.
  if (point === 'timers.wait') return passing(process, point, store, args, act);
  process.inFlight += 1;
  try {
    return await passing(process, point, store, args, act);
  } finally {
    process.inFlight -= 1;
  }
}

async function passing<T>(
  process: LivingProcess,
  point: string,
  store: StoreKind,
  args: readonly unknown[],
  act: () => Promise<T> | T,
): Promise<T> {
  const { storm, observe } = process.world;
  const waiting = storm.before(process, point, store);
  const failure = waiting ? await waiting : null;
  if (process.dead) return never();
  const result = await act();
  observe(process, point, args, result);
  if (process.dead) return never();
  const late = storm.after(process, point);
  if (late) await late;
  if (process.dead) return never();
  if (failure) throw failure;
  return result;
}

/** A port as one process sees it: every method goes through the storm. */
export function portView<T extends object>(
  process: LivingProcess,
  port: string,
  target: T,
  store: StoreKind,
  plain: readonly string[] = [],
): T {
  const methods = new Map<PropertyKey, unknown>();
  return new Proxy(target, {
    get(object, name) {
      const known = methods.get(name);
      if (known) return known;
      const member: unknown = Reflect.get(object, name);
      if (typeof member !== 'function' || plain.includes(String(name))) return member;
      const point = `${port}.${String(name)}`;
      const method = (...args: unknown[]): unknown =>
        through(process, point, store, args, () => (Reflect.get(object, name) as (...given: unknown[]) => unknown).apply(object, args));
      methods.set(name, method);
      return method;
    },
  });
}
