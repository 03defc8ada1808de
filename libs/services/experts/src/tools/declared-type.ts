/** A JSON Schema or part of one. It comes from a server, so it may be malformed. */
export type Schema = Readonly<Record<string, unknown>>;

/** `left`: remaining steps, because a small schema with references can expand without end. */
export interface Within {
  readonly root: Schema;
  readonly depth: number;
  readonly left: { steps: number };
}

export type ConvertedValue =
  /** The value fits, or no single conversion is possible. */
  { readonly kind: 'as it is'; readonly fits: boolean } | { readonly kind: 'taken'; readonly value: unknown; readonly type: string };

const deepest = 6;
const mostChoices = 8;
const fitting: ConvertedValue = { kind: 'as it is', fits: true };
const unclear: ConvertedValue = { kind: 'as it is', fits: false };

/** Converts a value to the declared type if it has only one possible meaning. */
export function inDeclaredType(value: unknown, declared: unknown, within: Within): ConvertedValue {
  within.left.steps -= 1;
  const schema = within.left.steps > 0 && within.depth <= deepest ? resolved(declared, within.root) : null;
  // An unknown schema accepts anything.
  if (!schema) return fitting;
  for (const choices of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(choices)) return among(choices.slice(0, mostChoices).map((choice) => inDeclaredType(value, choice, deeper(within))));
  }
  if ('const' in schema || Array.isArray(schema.enum))
    return inChoices(value, 'const' in schema ? [schema.const] : (schema.enum as unknown[]));
  const types = (Array.isArray(schema.type) ? schema.type.slice(0, mostChoices) : [schema.type]).filter((type) => typeof type === 'string');
  if (types.length === 0) return fitting;
  return among(types.map((type) => inType(value, type as string, schema, within)));
}

/** A choice that matches, or else the only possible conversion. */
function among(ways: readonly ConvertedValue[]): ConvertedValue {
  if (ways.some((way) => way.kind === 'as it is' && way.fits)) return fitting;
  const different = new Map(ways.flatMap((way) => (way.kind === 'taken' ? [[JSON.stringify(way.value), way] as const] : [])));
  return different.size === 1 ? [...different.values()][0]! : unclear;
}

function inChoices(value: unknown, choices: readonly unknown[]): ConvertedValue {
  if (choices.some((choice) => choice === value)) return fitting;
  // Choices with objects, and very many choices, are left to the schema check.
  if (choices.length > 200 || choices.some((choice) => typeof choice === 'object' && choice !== null)) return fitting;
  if (typeof value === 'object') return unclear;
  const folded = String(value).trim().toLowerCase();
  const meant = choices.filter((choice) => String(choice).toLowerCase() === folded);
  return meant.length === 1 ? { kind: 'taken', value: meant[0], type: 'one of its choices' } : unclear;
}

function inType(value: unknown, type: string, schema: Schema, within: Within): ConvertedValue {
  switch (type) {
    case 'number':
    case 'integer':
      return numeric(value, type);
    case 'boolean':
      return typeof value === 'boolean' ? fitting : typeof value === 'string' ? truth(value) : unclear;
    case 'null':
      return value === null ? fitting : unclear;
    case 'string':
      if (typeof value === 'string') return fitting;
      return typeof value === 'number' && exact(value) ? { kind: 'taken', value: String(value), type: 'text' } : unclear;
    case 'array':
      return list(value, schema, within);
    case 'object':
      return typeof value === 'string'
        ? parsed(value, isObject, 'an object', schema, within)
        : isObject(value)
          ? fields(value, schema, within)
          : unclear;
    default:
      return fitting;
  }
}

/** Digits, point and exponent. No thousands separators: the comma or point is a separator in some countries and a decimal mark in others. */
const numeral = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/;
/** Decimal digits that a double always keeps (IEEE 754 binary64, DBL_DIG). */
const keptDigits = 15;

const exact = (value: number): boolean => Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

function numeric(value: unknown, type: 'number' | 'integer'): ConvertedValue {
  if (typeof value === 'number') return type === 'number' || Number.isInteger(value) ? fitting : unclear;
  const text = typeof value === 'string' ? value.trim() : '';
  if (!numeral.test(text)) return unclear;
  const digits = text
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '');
  const number = Number(text);
  const safe = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number);
  return safe && digits.length <= keptDigits ? { kind: 'taken', value: number === 0 ? 0 : number, type: 'a number' } : unclear;
}

function truth(text: string): ConvertedValue {
  const word = text.trim().toLowerCase();
  return word === 'true' || word === 'false' ? { kind: 'taken', value: word === 'true', type: 'true or false' } : unclear;
}

function list(value: unknown, schema: Schema, within: Within): ConvertedValue {
  if (typeof value === 'string') {
    const read = parsed(value, Array.isArray, 'a list', schema, within);
    if (read.kind === 'taken') return read;
    // Text with separators may be one item or several.
    if (/[,;|\n]/.test(value) || value.trim() === '') return unclear;
  }
  if (!Array.isArray(value)) {
    if (value === null || schema.items === undefined) return unclear;
    const item = inDeclaredType(value, schema.items, deeper(within));
    if (item.kind === 'taken') return { kind: 'taken', value: [item.value], type: 'a list of one' };
    return item.fits ? { kind: 'taken', value: [value], type: 'a list of one' } : unclear;
  }
  if (schema.items === undefined) return fitting;
  const items = value.map((item) => inDeclaredType(item, schema.items, deeper(within)));
  return together(items, () => items.map((item, i) => (item.kind === 'taken' ? item.value : value[i])), 'a list');
}

function fields(value: Schema, schema: Schema, within: Within): ConvertedValue {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = Object.keys(value);
  const taken = names.map((name) =>
    Object.hasOwn(properties, name) ? inDeclaredType(value[name], properties[name], deeper(within)) : fitting,
  );
  return together(taken, () => Object.fromEntries(names.map((name, i) => [name, valueOf(taken[i]!, value[name])])), 'an object');
}

const valueOf = (taken: ConvertedValue, value: unknown): unknown => (taken.kind === 'taken' ? taken.value : value);

/** Combines the parts of one value: convertible parts are converted even if another part does not fit. */
function together(parts: readonly ConvertedValue[], whole: () => unknown, type: string): ConvertedValue {
  if (parts.some((part) => part.kind === 'taken')) return { kind: 'taken', value: whole(), type: `${type} with other parts` };
  return parts.every((part) => part.kind === 'as it is' && part.fits) ? fitting : unclear;
}

/** Parses JSON given as a string. */
function parsed(text: string, wanted: (value: unknown) => boolean, type: string, schema: Schema, within: Within): ConvertedValue {
  if (!/^\s*[[{]/.test(text)) return unclear;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return unclear;
    throw error;
  }
  if (!wanted(value)) return unclear;
  const inner = Array.isArray(value) ? list(value, schema, within) : fields(value as Schema, schema, within);
  return { kind: 'taken', value: valueOf(inner, value), type };
}

const deeper = (within: Within): Within => ({ ...within, depth: within.depth + 1 });

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Resolves a `$ref` inside the same schema; null if it points outside, is dangling or circular. */
function resolved(declared: unknown, root: Schema): Schema | null {
  let schema = declared;
  for (let steps = 0; steps < 8; steps += 1) {
    if (!isObject(schema)) return null;
    if (typeof schema.$ref !== 'string') return schema;
    if (!schema.$ref.startsWith('#/') || schema.$ref.length > 500) return null;
    const parts = schema.$ref
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    schema = parts.reduce<unknown>((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), root);
  }
  return null;
}
