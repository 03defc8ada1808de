import type * as z from 'zod';

type Listener = (type: string) => void;

const listeners = new Set<Listener>();

/** Checks the data of an event against its schema: the one place where events are parsed, whoever made them. */
export function checkData<S extends z.ZodType>(
  spec: { readonly type: string; readonly schema: S },
  data: unknown,
): z.ZodSafeParseResult<z.infer<S>> {
  for (const listener of listeners) listener(spec.type);
  return spec.schema.safeParse(data);
}

/** Tells the type of every event whose data is checked, until what it gives is called: for those who count what a run costs. */
export function onDataCheck(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
