/** What a tool returned, as its fact holds it. */
export type ToolResult = Readonly<Record<string, unknown>>;

/** A member as text; null unless it is a text or a number. */
export const text = (result: ToolResult, key: string): string | null => {
  const value = result[key];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
};
