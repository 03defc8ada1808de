import vm from 'node:vm';
import { type Schema, Validator } from '@cfworker/json-schema';
import { type AnswerParameters, Failure } from '@conclave/contracts';
import type { JsonBody } from '@conclave/ports';

const isObject = (value: unknown): value is JsonBody => typeof value === 'object' && value !== null && !Array.isArray(value);
const types: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/** Levels and parts of a schema. */
const deepest = 40;
const mostParts = 5_000;
/**
 * Milliseconds a schema may take over one answer: it and its patterns come from the client. A fair one takes less than one; the rest is
 * for machines that do other work at the same time, where the clock goes on while this process waits.
 */
const longestMs = 250;

/** Throws REQUEST_INVALID for a `response_format` nobody could keep to. */
export function checkFormat(format: AnswerParameters['response_format'] | null | undefined): void {
  if (!format) return;
  const refuse = (sentence: string, param: string): Failure =>
    new Failure('REQUEST_INVALID', sentence, { param: `response_format.${param}` });
  const { type } = format;
  if (type !== 'text' && type !== 'json_object' && type !== 'json_schema')
    throw refuse('`response_format.type` must be "text", "json_object" or "json_schema".', 'type');
  if (type !== 'json_schema') return;
  const given = format['json_schema'];
  if (!isObject(given) || !isObject(given['schema']))
    throw refuse('`response_format.json_schema.schema` must be a JSON Schema.', 'json_schema.schema');
  const mistake = mistakeIn(given['schema']);
  if (mistake !== null) throw refuse(`\`response_format.json_schema.schema\` ${mistake}.`, 'json_schema.schema');
}

/** What no validator could read. Not a check of every keyword: what a schema does not say is allowed. */
function mistakeIn(schema: JsonBody): string | null {
  let parts = 0;
  const look = (value: unknown, level: number): string | null => {
    if (typeof value === 'boolean') return null;
    if (!isObject(value)) return 'holds a part that is no schema';
    if (level > deepest || (parts += 1) > mostParts) return 'is too large';
    const { type, pattern } = value;
    const named: readonly unknown[] = type === undefined ? [] : Array.isArray(type) ? type : [type];
    const unknown = named.find((one) => !types.has(one));
    if (unknown !== undefined) return `has the type ${JSON.stringify(unknown)?.slice(0, 40)}, which is none of JSON Schema`;
    if (typeof pattern === 'string' && !isPattern(pattern)) return 'has a pattern that is no regular expression';
    const below = [
      ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'].flatMap((name) =>
        isObject(value[name]) ? Object.values(value[name]) : [],
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

/** The schema an answer has to keep; null where none was asked for, or only as a wish (`strict: false`). */
export function strictSchema({ response_format: format }: AnswerParameters): JsonBody | null {
  const given = format?.['type'] === 'json_schema' ? format['json_schema'] : null;
  return isObject(given) && isObject(given['schema']) && given['strict'] !== false ? given['schema'] : null;
}

/** The JSON of an answer as text where it keeps the schema, or what is wrong with it. */
export type Fit = { readonly text: string } | { readonly problem: string };

/** Holds an answer against a schema, without generating code and within a bounded time. A fence around the JSON is taken off. */
export function fitOf(answer: string, schema: JsonBody): Fit {
  const text = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/i.exec(answer)?.[1] ?? answer.trim();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'It is not JSON.' };
  }
  try {
    const { valid, errors } = within(() => new Validator(schema as Schema, '2020-12', true).validate(value));
    const [first] = [...errors].reverse();
    return valid
      ? { text }
      : { problem: `${first?.instanceLocation ?? '#'}: ${first?.error ?? 'It does not keep the schema.'}`.slice(0, 400) };
  } catch {
    return { problem: 'The schema cannot be held against it: it refers to what is not there, or takes too long.' };
  }
}

const script = new vm.Script('run()');
const context = vm.createContext({ run: null });

/** Runs a function of this process and stops it after its time, regular expressions included. */
function within<T>(run: () => T): T {
  let result: { readonly value: T } | undefined;
  context.run = () => {
    result = { value: run() };
  };
  try {
    script.runInContext(context, { timeout: longestMs });
  } finally {
    context.run = null;
  }
  return result!.value;
}
