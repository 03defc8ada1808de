import type * as z from 'zod';

type Listener = (type: string) => void;

const listeners = new Set<Listener>();

/** Checks an event's data against its schema: the only place where events are parsed, whatever their origin. */
export function checkData<S extends z.ZodType>(
  spec: { readonly type: string; readonly schema: S },
  data: unknown,
): z.ZodSafeParseResult<z.infer<S>> {
  for (const listener of listeners) listener(spec.type);
  return spec.schema.safeParse(data);
}

/** Reports the type of every event whose data is checked, until the returned function is called: for measuring the cost of a run. */
export function onDataCheck(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

type TrustListener = (spec: { readonly type: string; readonly schema: z.ZodType }, data: unknown) => void;

const trustListeners = new Set<TrustListener>();

/** Notifies the listeners about data that is not checked. */
export function trustData(spec: { readonly type: string; readonly schema: z.ZodType }, data: unknown): void {
  for (const listener of trustListeners) listener(spec, data);
}

/** Passes on the data of every event that is made without a check, until the returned function is called: for tests, which check it. */
export function onTrustedData(listener: TrustListener): () => void {
  trustListeners.add(listener);
  return () => void trustListeners.delete(listener);
}
