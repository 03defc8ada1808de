import type { Schema } from '@cfworker/json-schema';
import { type AnswerParameters, Failure } from '@conclave/contracts';
import { isJsonObject, boundedRun, type JsonObject } from '@conclave/ports';

const types: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/** Limits of a schema: nesting levels and parts. */
const deepest = 40;
const mostParts = 5_000;
/**
 * Milliseconds that validating one answer may take: the schema and its patterns come from the client. An ordinary schema takes less than 1
 * ms; the rest is for busy machines, where time passes while this process waits.
 */
const longestMs = 250;

/** Throws REQUEST_INVALID for a `response_format` that no answer could satisfy. */
export function checkFormat(format: AnswerParameters['response_format'] | null | undefined): void {
  if (!format) return;
  const refuse = (sentence: string, param: string): Failure =>
    new Failure('REQUEST_INVALID', sentence, { param: `response_format.${param}` });
  const { type } = format;
  if (type !== 'text' && type !== 'json_object' && type !== 'json_schema')
    throw refuse('`response_format.type` must be "text", "json_object" or "json_schema".', 'type');
  if (type !== 'json_schema') return;
  const given = format['json_schema'];
  if (!isJsonObject(given) || !isJsonObject(given['schema']))
    throw refuse('`response_format.json_schema.schema` must be a JSON Schema.', 'json_schema.schema');
  const mistake = mistakeIn(given['schema']);
  if (mistake !== null) throw refuse(`\`response_format.json_schema.schema\` ${mistake}.`, 'json_schema.schema');
}

/** Why no validator can read the schema, or null. Does not check every keyword. */
function mistakeIn(schema: JsonObject): string | null {
  let parts = 0;
  const look = (value: unknown, level: number): string | null => {
    if (typeof value === 'boolean') return null;
    if (!isJsonObject(value)) return 'contains a part that is not a schema';
    if (level > deepest || (parts += 1) > mostParts) return 'is too large';
    const { type, pattern } = value;
    const named: readonly unknown[] = type === undefined ? [] : Array.isArray(type) ? type : [type];
    const unknown = named.find((one) => !types.has(one));
    if (unknown !== undefined) return `has the type ${JSON.stringify(unknown)?.slice(0, 40)}, which JSON Schema does not have`;
    if (typeof pattern === 'string' && !isPattern(pattern)) return 'has an invalid regular expression as pattern';
    const below = [
      ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'].flatMap((name) =>
        isJsonObject(value[name]) ? Object.values(value[name]) : [],
      ),
      ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((name) => (Array.isArray(value[name]) ? (value[name] as unknown[]) : [])),
      ...['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'].flatMap((name) =>
        value[name] === undefined || Array.isArray(value[name]) ? [] : [value[name]],
      ),
    ];
    for (const part of below) {
      const mistake = look(part, level + 1);
      if (mistake !== null) return mistake;
    }
    return null;
  };
  return look(schema, 0);
}

function isPattern(text: string): boolean {
  try {
    return Boolean(new RegExp(text, 'u'));
  } catch {
    return false;
  }
}

/** The schema an answer must satisfy; null when the request has none or sets `strict: false`. */
export function strictSchema({ response_format: format }: AnswerParameters): JsonObject | null {
  const given = format?.['type'] === 'json_schema' ? format['json_schema'] : null;
  return isJsonObject(given) && isJsonObject(given['schema']) && given['strict'] !== false ? given['schema'] : null;
}

/** The JSON text of an answer that satisfies the schema, or what is wrong with the answer. */
export type Fit = { readonly text: string } | { readonly problem: string };

/**
 * Validates an answer against a schema, without generating code and in bounded time. Removes a code fence around the JSON. Imports the validator
 * with the first answer, for a faster start.
 */
export async function fitOf(answer: string, schema: JsonObject): Promise<Fit> {
  const whole = answer.trim();
  const fence = whole.endsWith('```') ? /^```(?:json)?[^\S\n]*\n/i.exec(whole) : null;
  const text = fence ? whole.slice(fence[0].length, -'```'.length).trim() : whole;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'It is not JSON.' };
  }
  const { Validator } = await import('./schema-validator.js');
  try {
    const { valid, errors } = boundedRun(() => new Validator(schema as Schema, '2020-12', true).validate(value), longestMs);
    const [first] = [...errors].reverse();
    return valid
      ? { text }
      : { problem: `${first?.instanceLocation ?? '#'}: ${first?.error ?? 'It does not match the schema.'}`.slice(0, 400) };
  } catch {
    return { problem: 'The schema cannot be checked: a reference leads nowhere, or the check takes too long.' };
  }
}
