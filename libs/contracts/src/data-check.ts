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
