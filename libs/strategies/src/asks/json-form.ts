import * as z from 'zod';
import { jsonIn } from '../replies/json-reply.js';
import type { JsonForm, JsonSchema, Reading, Said } from './ask.js';

/** The form of a reply by its schema. It is strict where servers can hold every object to its members. `name`: letters, digits, `_`, `-`. */
export function jsonForm(name: string, reply: z.ZodType): JsonForm {
  const { $schema: _, ...schema } = z.toJSONSchema(reply, { target: 'draft-7' }) as JsonSchema;
  return { type: 'json_schema', json_schema: { name, schema, strict: isStrict(schema) } };
}

/** Whether every object of a schema names all of its members and demands each. */
function isStrict(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as JsonSchema;
  const names = Object.keys((properties ?? {}) as object);
  const demanded = Array.isArray(required) ? (required as unknown[]) : [];
  if (type === 'object' && (additionalProperties !== false || names.some((one) => !demanded.includes(one)))) return false;
  return Object.values(schema).every(isStrict);
}

/** The JSON of a reply as `schema` reads it. `key`: member under which a bare list was asked for. */
export function readJson<T>({ text, cutShort }: Said, schema: z.ZodType<T>, key?: string): Reading<T> {
  const found = jsonIn(text);
  if (found === undefined)
    return { faults: [cutShort ? 'The reply was cut off before its JSON ended: be shorter.' : 'The reply contains no JSON.'] };
  const parsed = schema.safeParse(key !== undefined && Array.isArray(found) ? { [key]: found } : found);
  return parsed.success ? { output: parsed.data } : { faults: faultsOf(parsed.error) };
}

/** What is wrong with a value, a sentence each. */
export const faultsOf = ({ issues }: z.ZodError): readonly string[] =>
  issues.map(({ path, message }) => (path.length > 0 ? `"${path.join('.')}": ${message}.` : `${message}.`));
