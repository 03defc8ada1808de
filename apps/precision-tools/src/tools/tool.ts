import * as z from 'zod';

/** Limits of one call. */
export interface ToolLimits {
  /** Longest run of the tool, in milliseconds of processor time; on a busy machine the caller waits longer, at most ten times. */
  timeoutMs: number;
  /** Longest text in one argument, in UTF-16 units. */
  argumentChars: number;
}

/** A deterministic tool: the same arguments return the same answer. `run` throws `Refusal` instead of guessing. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  /** For models: one or two sentences that say when to use it. */
  description: string;
  input: Input;
  output: Output;
  limits: ToolLimits;
  run(args: z.output<Input>): z.input<Output>;
}

/** The name, schemas and limits of a tool, without its implementation. */
export type ToolDeclaration = Omit<Tool, 'run'>;

export const usualLimits: ToolLimits = { timeoutMs: 800, argumentChars: 20_000 };

/** Longest text that the text tools accept, in UTF-16 units. */
export const longTextChars = 1_000_000;

/** A tool as a value of the list. Unknown arguments are refused: a misspelt one would otherwise be ignored silently. */
export function defineTool<Input extends z.ZodRawShape, Output extends z.ZodRawShape>(
  spec: Omit<Tool, 'input' | 'output' | 'limits' | 'run'> & {
    input: Input;
    output: Output;
    limits?: Partial<ToolLimits>;
    run(args: z.output<z.ZodObject<Input>>): z.input<z.ZodObject<Output>>;
  },
): Tool {
  const tool = {
    ...spec,
    input: z.strictObject(spec.input),
    output: z.strictObject(spec.output),
    limits: { ...usualLimits, ...spec.limits },
  };
  return tool as unknown as Tool;
}
