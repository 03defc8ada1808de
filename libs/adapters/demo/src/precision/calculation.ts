/** The result of a tool, as its fact contains it. */
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
  /** Text of the calculation, for a sentence that says why there is no result. */
  readonly about: string;
  /** Whether a result can belong to this call, judged by the arguments that it repeats. */
  readonly fits: (result: ToolResult) => boolean;
  /** The answer; null if the result does not contain it. */
  readonly says: (result: ToolResult) => string | null;
}
