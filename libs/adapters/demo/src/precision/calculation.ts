/** What a tool returned, as its fact holds it. */
export type ToolResult = Readonly<Record<string, unknown>>;

/** A member as text; null unless it is a text or a number. */
export const text = (result: ToolResult, key: string): string | null => {
  const value = result[key];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
};

/** One exact calculation that a question asks for. */
export interface Calculation {
  /** Name of the tool, without its server. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What is calculated, for a sentence that says why it was not. */
  readonly about: string;
  /** Whether a result can be that of this call, by what it repeats of its arguments. */
  readonly fits: (result: ToolResult) => boolean;
  /** The answer; null if the result does not hold it. */
  readonly says: (result: ToolResult) => string | null;
}
