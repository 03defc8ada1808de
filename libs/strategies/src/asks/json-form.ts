import * as z from 'zod';
import { jsonIn } from '../replies/json-reply.js';
import type { JsonForm, JsonSchema, ParsedReply, Said } from './ask.js';

/**
 * The `response_format` for a schema; strict if every object lists and requires all its members. `name`: letters, digits, `_`, `-`. The
 * schema is made at its first use, because most processes ask only a few of all questions.
 */
export function jsonForm(name: string, reply: z.ZodType): JsonForm {
  let made: JsonForm['json_schema'] | undefined;
  return {
    type: 'json_schema',
    get json_schema() {
      return (made ??= formOf(name, reply));
    },
  };
}

/** Most names that a form lists; servers limit the values of an enum (OpenAI: 1,000 in a schema, 250 if they are long together). */
const mostNames = 200;
/** Most forms that are kept for one question. */
const mostForms = 100;

/**
 * The form of a reply in which a member is one of the names that an input allows, such as the ids of its tasks: a server that follows
 * the form cannot write another one. `most` bounds the list of the reply: weak models repeat its last entry without end. `reply` gets the
 * schema of a name and the bound. A form is kept for each list of names.
 */
export function formNaming<In>(
  name: string,
  bounds: (input: In) => { readonly names: readonly string[]; readonly most: number },
  reply: (one: z.ZodType<string>, most: number) => z.ZodType,
) {
  const forms = new Map<string, JsonForm>();
  return (input: In): JsonForm => {
    const { names, most } = bounds(input);
    const allowed = [...new Set(names)];
    const key = JSON.stringify([most, allowed]);
    const kept = forms.get(key);
    if (kept) return kept;
    const isListed = allowed.length > 0 && allowed.length <= mostNames;
    const form = jsonForm(name, reply(isListed ? z.enum(allowed) : z.string(), most));
    if (forms.size >= mostForms) forms.clear();
    forms.set(key, form);
    return form;
  };
}

function formOf(name: string, reply: z.ZodType): JsonForm['json_schema'] {
  const { $schema: _, ...schema } = z.toJSONSchema(reply, { target: 'draft-7' }) as JsonSchema;
  return { name, schema, strict: isStrict(schema) };
}

/** Whether every object of a schema lists and requires all its members. */
function isStrict(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as JsonSchema;
  const names = Object.keys((properties ?? {}) as object);
  const demanded = Array.isArray(required) ? (required as unknown[]) : [];
  if (type === 'object' && (additionalProperties !== false || names.some((one) => !demanded.includes(one)))) return false;
  return Object.values(schema).every(isStrict);
}

/** Parses the JSON of a reply with `schema`. `key` is the member to which a reply that is only a list belongs. */
export function readJson<T>({ text, cutShort }: Said, schema: z.ZodType<T>, key?: string): ParsedReply<T> {
  const found = jsonIn(text);
  if (found === undefined)
    return { faults: [cutShort ? 'The reply was cut off before its JSON ended: be shorter.' : 'The reply contains no JSON.'] };
  const parsed = schema.safeParse(key !== undefined && Array.isArray(found) ? { [key]: found } : found);
  return parsed.success ? { output: parsed.data } : { faults: faultsOf(parsed.error) };
}

/** One sentence per fault. */
export const faultsOf = ({ issues }: z.ZodError): readonly string[] => issues.flatMap((issue) => faultsIn(issue, []));

function faultsIn(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): readonly string[] {
  const path = [...above, ...issue.path];
  const say = (message: string): string => (path.length > 0 ? `"${path.map(String).join('.')}": ${message}.` : `${message}.`);
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [say(issue.message)];
  // Of several shapes the value has one, with a fault inside it; or it has none of them.
  const fitting = issue.errors.filter((faults) => !faults.some(({ code, path: inside }) => code === 'invalid_type' && inside.length === 0));
  const [meant] = [...fitting].sort((a, b) => a.length - b.length);
  if (meant) return meant.flatMap((fault) => faultsIn(fault, path));
  return [say(issue.errors.map(([fault], n) => (n === 0 ? fault!.message : fault!.message.replace(/^Invalid input: /, ''))).join(', or '))];
}
