import type * as z from 'zod';
import { invalid, Refusal, quoted, tooLarge } from '../refusal.js';
import type { ToolDeclaration } from '../tool.js';

const mostValues = 20_000;
const deepest = 20;

/** Refuses input that is too large before a schema examines it. Walks without recursion, because the caller chooses the depth. */
function checkSize(args: unknown, argumentChars: number): void {
  const open: { value: unknown; depth: number; path: string }[] = [{ value: args, depth: 0, path: 'The arguments' }];
  let seen = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth, path } = next;
    if ((seen += 1) > mostValues) throw tooLarge(`The arguments hold more than ${mostValues.toLocaleString('en')} values: send fewer.`);
    if (typeof value === 'string' && value.length > argumentChars)
      throw tooLarge(
        `${path} has ${value.length.toLocaleString('en')} characters; the limit is ${argumentChars.toLocaleString('en')}. Send a part of it.`,
      );
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= deepest) throw tooLarge(`The arguments are nested more than ${deepest} levels deep.`);
    for (const [key, inner] of Object.entries(value)) open.push({ value: inner, depth: depth + 1, path: depth === 0 ? quoted(key) : path });
  }
}

function sentenceOf(issue: z.core.$ZodIssue, known: readonly string[]): string {
  const where = issue.path.length > 0 ? `"${issue.path.join('.')}"` : 'The arguments';
  if (issue.code === 'unrecognized_keys')
    return `There is no argument ${issue.keys.map((key) => quoted(key)).join(', ')}; known are ${known.join(', ')}.`;
  if (issue.code === 'invalid_type' && issue.input === undefined && issue.path.length > 0) return `${where} is missing.`;
  return `${where}: ${issue.message}.`;
}

/** The arguments in the form that the tool expects. Throws INVALID_ARGUMENT with every mistake and what is expected, or LIMIT_EXCEEDED. */
export function checkedArguments({ name, input, limits }: ToolDeclaration, args: unknown): Record<string, unknown> {
  checkSize(args, limits.argumentChars);
  const { success, data, error } = input.safeParse(args ?? {}, { reportInput: true });
  if (success) return data;
  const known = Object.keys(input.shape);
  throw invalid(
    `${error.issues
      .slice(0, 5)
      .map((issue) => sentenceOf(issue, known))
      .join(' ')} See the schema of ${name}.`,
  );
}

export const unknownTool = (name: string, known: readonly string[]): Refusal =>
  new Refusal('UNKNOWN_TOOL', `There is no tool ${quoted(name)}. The tools are: ${known.join(', ')}.`);
