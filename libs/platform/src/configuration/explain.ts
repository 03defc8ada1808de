import type * as z from 'zod';
import { expectation, knownKeys, nearest, shapesAt, type Shape } from '@conclave/contracts';
import { settingName, type Mistake } from './mistakes.js';
import type { YamlSource } from './yaml-source.js';

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly atKey: boolean;
  readonly problem: string;
  readonly remedy: string;
}

/** Turns the schema's issues into sentences for people, each with its line. */
export function explain(
  issues: readonly z.core.$ZodIssue[],
  shape: Shape,
  value: unknown,
  source: YamlSource,
  fileName: string,
): readonly Mistake[] {
  return issues.flatMap((issue) => problemsOf(issue, shape, value)).map((problem) => place(problem, source, fileName));
}

export function place(problem: Omit<Problem, 'atKey'> & { readonly atKey?: boolean }, source: YamlSource, fileName: string): Mistake {
  const { line, column } = source.position(problem.path, problem.atKey ?? false);
  return {
    where: `${fileName}:${line}:${column}`,
    line,
    setting: settingName(problem.path),
    problem: problem.problem,
    remedy: problem.remedy,
  };
}

function problemsOf(issue: z.core.$ZodIssue, shape: Shape, value: unknown): readonly Problem[] {
  const { path } = issue;
  const here = valueAt(value, path);
  const expected = expectation(shapesAt(shape, path));
  const wrong: Problem = { path, atKey: false, problem: `${shown(here)} is not allowed here.`, remedy: `Write ${expected}.` };
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(path, key, knownKeys(shape, path)));
    case 'invalid_key': {
      const names = shapesAt(shape, path.slice(0, -1)).flatMap((one) => (one.propertyNames ? [one.propertyNames] : []));
      return [{ path, atKey: true, problem: `\`${String(path.at(-1))}\` cannot be a name here.`, remedy: `Use ${expectation(names)}.` }];
    }
    case 'invalid_type':
      if (here === undefined) return [{ ...wrong, problem: 'is missing.' }];
      return [here === null ? { ...wrong, problem: 'has no value.' } : wrong];
    case 'invalid_value': {
      const near = typeof here === 'string' ? nearest(here, issue.values.map(String)) : undefined;
      return [{ ...wrong, remedy: `${near ? `Did you mean \`${near}\`? ` : ''}Use ${expected}.` }];
    }
    case 'invalid_union': {
      // The alternative that was meant: the one in which only a part is wrong.
      const inner =
        issue.errors.find((errors) => errors.some((error) => error.code === 'unrecognized_keys')) ??
        issue.errors.find((errors) => errors.every((error) => error.path.length > 0));
      return inner
        ? inner.flatMap((error) => problemsOf({ ...error, path: [...path, ...error.path] } as z.core.$ZodIssue, shape, value))
        : [wrong];
    }
    default:
      return [wrong];
  }
}

function unknownKey(path: readonly PropertyKey[], key: string, known: readonly string[]): Problem {
  const full = [...path, key];
  if (/^(api_?key|key|token|password)$/i.test(key)) {
    return {
      path: full,
      atKey: true,
      problem: 'keys must not be written into this file.',
      remedy:
        'Remove it from here and from the history of the file, and name an environment variable with `api_key_env` (stores: `password_env`, keys: `key_env`) or a file with `api_key_file`.',
    };
  }
  const near = nearest(key, known);
  return {
    path: full,
    atKey: true,
    problem: 'is not a known key.',
    remedy: near ? `Did you mean \`${near}\`?` : `Known keys here: ${known.join(', ')}.`,
  };
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[step] : undefined),
    value,
  );

/** A value for display: short, never a long text that could be a secret. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'a section';
  const text = typeof value === 'string' ? `"${value}"` : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
