import { foldedName } from '@conclave/strategies';
import { inDeclaredType, type Schema } from './declared-type.js';

type Values = Readonly<Record<string, unknown>>;

export interface RepairedArguments {
  readonly args: Values;
  /** One sentence per repair, which names arguments but no values. */
  readonly repairs: readonly string[];
}

/** Names that models wrap arguments in. */
const wrappers = new Set(['args', 'arguments', 'input', 'parameters', 'params', 'kwargs']);
const mostSentences = 8;

/**
 * Repairs arguments of a tool if its JSON Schema leaves no doubt: another spelling of an argument's name, a number or object
 * written as text, one value instead of a list, `null` for an omitted argument. Valid and ambiguous values stay unchanged for the
 * schema check. `readOnly`: the tool changes nothing, so that an argument that it does not know may be left out, or is the one that is
 * missing if their names are alike. Pure.
 */
export function repairArguments(args: Values, schema: Schema, readOnly = false): RepairedArguments {
  const repairs: string[] = [];
  const properties = propertiesOf(schema);
  const unwrapped = unwrap(args, properties, repairs);
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const spelled = withDeclaredNames(unwrapped, properties, repairs);
  const named = readOnly ? withMissingName(spelled, properties, required, repairs) : spelled;
  const left = { steps: 5_000 };
  const entries = Object.entries(named).flatMap(([name, value]): (readonly [string, unknown])[] => {
    const property = ownOf(properties, name);
    if (property === undefined) {
      if (!readOnly || !takesNoOthers(schema) || [...required].some((one) => typeof one === 'string' && !Object.hasOwn(named, one)))
        return [[name, value]];
      repairs.push(`${shown(name)} is no argument of this tool and was left out.`);
      return [];
    }
    const taken = inDeclaredType(value, property, { root: schema, depth: 0, left });
    if (taken.kind === 'as it is') {
      if (value !== null || required.has(name) || taken.fits) return [[name, value]];
      repairs.push(`${shown(name)} was null and was left out.`);
      return [];
    }
    repairs.push(`${shown(name)} is read as ${taken.type}.`);
    return [[name, taken.value]];
  });
  return { args: Object.fromEntries(entries), repairs: repairs.slice(0, mostSentences) };
}

/** Unwraps `{ arguments: { … } }`, also as text, if the tool has no argument of that name. */
function unwrap(args: Values, properties: Values, repairs: string[]): Values {
  const [only, ...others] = Object.entries(args);
  if (!only || others.length > 0 || !wrappers.has(only[0]) || ownOf(properties, only[0]) !== undefined) return args;
  const inner = typeof only[1] === 'string' ? objectIn(only[1]) : only[1];
  if (!isObject(inner)) return args;
  repairs.push(`The content of ${shown(only[0])} is used as the arguments.`);
  return inner;
}

/** Renames an argument to the schema's name if exactly one name matches apart from case and separators. */
function withDeclaredNames(args: Values, properties: Values, repairs: string[]): Values {
  const declared = new Map<string, string[]>();
  for (const name of Object.keys(properties)) declared.set(foldedName(name), [...(declared.get(foldedName(name)) ?? []), name]);
  const unknown = Object.keys(args).filter((name) => ownOf(properties, name) === undefined);
  const meant = new Map(
    unknown.flatMap((name) => {
      const [match, ...others] = declared.get(foldedName(name)) ?? [];
      const rivals = unknown.filter((other) => foldedName(other) === foldedName(name));
      const free = match !== undefined && others.length === 0 && rivals.length === 1 && !Object.hasOwn(args, match);
      return free ? [[name, match] as const] : [];
    }),
  );
  for (const [name, match] of meant) repairs.push(`${shown(name)} is read as ${shown(match)}.`);
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [meant.get(name) ?? name, value]));
}

/** Shortest part of a name by which another name is recognised. */
const shortestPart = 3;

/**
 * Renames the only unknown argument to the only required one that is missing, if one name contains the other, such as `mail` and `email`,
 * or `repo` and `repo_path`. Only for tools that change nothing: the value may be meant otherwise, and then the tool says so.
 */
function withMissingName(args: Values, properties: Values, required: ReadonlySet<unknown>, repairs: string[]): Values {
  const [unknown, ...others] = Object.keys(args).filter((name) => ownOf(properties, name) === undefined);
  const [missing, ...more] = Object.keys(properties).filter((name) => required.has(name) && !Object.hasOwn(args, name));
  if (unknown === undefined || missing === undefined || others.length + more.length > 0) return args;
  const [short, long] = [foldedName(unknown), foldedName(missing)].sort((a, b) => a.length - b.length) as [string, string];
  if (short.length < shortestPart || !long.includes(short)) return args;
  repairs.push(`${shown(unknown)} is read as ${shown(missing)}.`);
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name === unknown ? missing : name, value]));
}

/** Whether the tool would refuse an argument that its schema does not list. */
const takesNoOthers = (schema: Schema): boolean => schema.additionalProperties === false && !('patternProperties' in schema);

const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

const propertiesOf = (schema: Schema): Values => (isObject(schema.properties) ? schema.properties : {});

const ownOf = (values: Values, name: string): unknown => (Object.hasOwn(values, name) ? values[name] : undefined);

/** A name for use in a sentence: short, on one line, without invisible characters. */
const shown = (name: string): string => `\`${name.replace(/[\p{C}`]/gu, '').slice(0, 60)}\``;

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
