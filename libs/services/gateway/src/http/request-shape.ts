import { ConclaveOptions, Failure, nearest } from '@conclave/contracts';
import type * as z from 'zod';

type Issue = z.core.$ZodIssue;

const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`),
    '',
  );

/** Clients send null for "not set", so null counts as absent in every named field. */
function withoutNulls(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null));
}

const sentence = (issue: Issue): string => {
  const field = pathOf(issue.path);
  const text = issue.code === 'invalid_type' && issue.message.startsWith('Invalid input: ') ? `must be ${issue.expected}` : issue.message;
  return field === '' ? `The body ${text}.` : `\`${field}\` ${text.charAt(0).toLowerCase()}${text.slice(1)}.`;
};

/** Parses the body by its schema. Throws REQUEST_INVALID, which names the field of the first error. */
export const parseBody = <S extends z.ZodType>(schema: S, body: Record<string, unknown>): z.infer<S> => parsed(schema, withoutNulls(body));

/** As `parseBody`, for an update: null is a value there, and unchanged fields are left out. */
export const parseChange = <S extends z.ZodType>(schema: S, body: Record<string, unknown>): z.infer<S> => parsed(schema, body);

function parsed<S extends z.ZodType>(schema: S, body: Record<string, unknown>): z.infer<S> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const issue = deepest(read.error.issues[0]!);
  if (issue.code === 'unrecognized_keys' && issue.path[0] === 'conclave') throw unknownKey(issue, ConclaveOptions.keyof().options);
  throw new Failure('REQUEST_INVALID', sentence(issue), { param: pathOf(issue.path) || undefined });
}

/** Refuses unknown keys in our own section of a request: a misspelt limit would have no effect. */
function unknownKey({ path, keys }: Extract<Issue, { code: 'unrecognized_keys' }>, known: readonly string[]): Failure {
  const key = keys[0]!.slice(0, 60);
  const meant = nearest(key, known);
  const param = pathOf([...path, key]);
  return new Failure(
    'REQUEST_INVALID',
    `\`${param}\` is unknown. ${meant ? `Did you mean \`${meant}\`?` : `Known: ${known.join(', ')}.`}`,
    { param },
  );
}

/**
 * The issue that describes an error best: in a union, that of the branch that matched furthest (a part of a list, rather than "not a text"); for
 * a name that is not allowed, the rule for names.
 */
export function deepest(issue: Issue): Issue {
  if (issue.code === 'invalid_key') return { ...issue.issues[0]!, path: issue.path.slice(0, -1) } as Issue;
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flatMap((issues) => issues.slice(0, 1)).filter((candidate) => candidate.path.length > 0);
  const best = inner.sort((a, b) => b.path.length - a.path.length)[0];
  return best ? deepest({ ...best, path: [...issue.path, ...best.path] } as Issue) : issue;
}
