import { oneLine } from './tool-text.js';
import type { JsonObject } from './tools.js';

/** Longest signature, in characters. */
const longestSignature = 600;
const longestName = 64;
/**
 * Longest pattern of an argument, and longest description of a text that is repeated, in characters: most forms are short, such as
 * `YYYY-MM-DD`, and every planner's prompt contains every signature.
 */
const [longestPattern, longestNote] = [60, 32];
/** Maximum number of enumeration values and union members listed. */
const namedChoices = 8;
/** Nesting depth of objects that is written out. */
const deepest = 2;
/** Maximum number of schema parts visited: a small schema with references can expand to a very large one. */
const mostParts = 1_000;

/**
 * The arguments of a tool in one line, from its JSON Schema: `day: string (YYYY-MM-DD), digits?: integer (1 to 50)`. Bounded for any
 * schema: what is in brackets is left out if the types alone fill the line. `note`: longest description in it, in characters.
 */
export function signatureOf(schema: JsonObject, note = longestNote): string {
  const partsWith = (hints: At['hints']): readonly string[] =>
    fieldsOf(schema, { root: schema, depth: 0, left: { parts: mostParts }, hints, note });
  const parts = (['all', 'forms', 'none'] as const).map(partsWith).find((some) => some.join(', ').length <= longestSignature);
  return parts ? parts.join(', ') : cutLine(partsWith('none'));
}

function cutLine(parts: readonly string[]): string {
  let line = '';
  for (const [i, part] of parts.entries()) {
    const next = line === '' ? part : `${line}, ${part}`;
    if (next.length > longestSignature) return `${line === '' ? part.slice(0, longestSignature) : line}, … (${parts.length - i} more)`;
    line = next;
  }
  return line;
}

interface At {
  readonly root: JsonObject;
  readonly depth: number;
  readonly left: { parts: number };
  /** What is said about an argument beside its type: `forms` leaves out its description. */
  readonly hints: 'all' | 'forms' | 'none';
  readonly note: number;
}

export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldsOf(schema: JsonObject, at: At): readonly string[] {
  if (!isJsonObject(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(schema.properties).slice(0, 100);
  // Required fields first; otherwise in schema order.
  const ordered = [...fields.filter(([name]) => required.has(name)), ...fields.filter(([name]) => !required.has(name))];
  return ordered.map(
    ([name, value]) => `${named(name)}${required.has(name) ? '' : '?'}: ${typeOf(value, at)}${at.depth === 0 ? hintOf(value, at) : ''}`,
  );
}

/** Formats, patterns and bounds of an argument in brackets: its type alone does not say how to write a date. */
function hintOf(value: unknown, { root, hints, note }: At): string {
  const own = resolved(value, root);
  const schema = own?.type === 'array' ? resolved(own.items, root) : own;
  if (hints === 'none' || !own || !schema || 'const' in schema || Array.isArray(schema.enum)) return '';
  const { format, pattern, minLength } = schema;
  const said = [
    typeof format === 'string' ? oneLine(format, 20) : null,
    // A cut pattern would be another pattern.
    typeof pattern === 'string' && pattern.length <= longestPattern ? `matches ${oneLine(pattern, longestPattern)}` : null,
    boundsOf(schema.minimum, schema.maximum),
    isBound(schema.exclusiveMinimum) ? `above ${schema.exclusiveMinimum}` : null,
    isBound(schema.exclusiveMaximum) ? `below ${schema.exclusiveMaximum}` : null,
    isBound(minLength) && minLength > 1 ? `at least ${minLength} characters` : null,
    hints === 'all' && schema.type === 'string' && typeof own.description === 'string' && own.description.length <= note
      ? oneLine(own.description, note)
      : null,
  ].filter(Boolean);
  return said.length === 0 ? '' : ` (${said.join('; ')})`;
}

/** The largest safe integers are bounds of every integer in the schemas of some libraries. */
const isBound = (bound: unknown): bound is number => typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER;

function boundsOf(least: unknown, most: unknown): string | null {
  if (isBound(least) && isBound(most)) return `${least} to ${most}`;
  return isBound(least) ? `at least ${least}` : isBound(most) ? `at most ${most}` : null;
}

const named = (name: string): string => (/^[A-Za-z_$][\w$-]{0,63}$/.test(name) ? name : JSON.stringify(oneLine(name, longestName)));

function typeOf(value: unknown, at: At): string {
  at.left.parts -= 1;
  const schema = at.left.parts > 0 ? resolved(value, at.root) : null;
  if (!schema) return 'any';
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum, literal);
  for (const choices of [schema.anyOf, schema.oneOf]) {
    if (!Array.isArray(choices)) continue;
    return at.depth > deepest ? 'any' : union(choices, (choice) => typeOf(choice, { ...at, depth: at.depth + 1 }));
  }
  if (Array.isArray(schema.type)) return union(schema.type, (type) => (typeof type === 'string' ? oneLine(type, 20) : 'any'));
  if (schema.type === 'array') {
    const item = at.depth > deepest || schema.items === undefined ? 'any' : typeOf(schema.items, { ...at, depth: at.depth + 1 });
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === 'object' || schema.properties !== undefined) {
    const fields = at.depth >= deepest ? [] : fieldsOf(schema, { ...at, depth: at.depth + 1 });
    return fields.length === 0 ? 'object' : oneLine(`{${fields.join(', ')}}`, 300);
  }
  return typeof schema.type === 'string' ? oneLine(schema.type, 20) : 'any';
}

function union(choices: readonly unknown[], show: (choice: unknown) => string): string {
  const shown = [...new Set(choices.slice(0, namedChoices).map(show))];
  return [...shown, ...(choices.length > namedChoices ? ['…'] : [])].join(' | ') || 'any';
}

const literal = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(oneLine(value, 40))
    : typeof value === 'object' && value !== null
      ? 'object'
      : oneLine(String(value), 40);

/** The target of a `$ref` inside the same schema; null if it points outside, nowhere or in a circle. */
export function resolved(value: unknown, root: JsonObject): JsonObject | null {
  let schema = value;
  for (let steps = 0; steps < 8; steps += 1) {
    if (!isJsonObject(schema)) return null;
    if (typeof schema.$ref !== 'string') return schema;
    if (!schema.$ref.startsWith('#/') || schema.$ref.length > 500) return null;
    schema = schema.$ref
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, part) => (isJsonObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), root);
  }
  return null;
}
