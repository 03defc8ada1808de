import * as z from 'zod';

const StoredPrompt = z.object({ text: z.string().nullable() });

/** The operator's text in a stored value; null for the shipped text or an invalid value. */
export function textOf(value: unknown): string | null {
  const stored = StoredPrompt.safeParse(value);
  return stored.success ? stored.data.text : null;
}
