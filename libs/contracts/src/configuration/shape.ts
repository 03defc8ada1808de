import * as z from 'zod';

/** JSON Schema, limited to what the settings use. */
export interface Shape {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly expected?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly propertyNames?: Shape;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** The shape a person may write, before defaults are filled in. */
export const shapeOf = (schema: z.ZodType): Shape =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-7' }) as Shape;

const alternatives = (shape: Shape): readonly Shape[] => (shape.anyOf ? shape.anyOf.flatMap(alternatives) : [shape]);

/** Shapes allowed at a path; several if the setting has several forms. */
export function shapesAt(shape: Shape, path: readonly PropertyKey[]): readonly Shape[] {
  const [step, ...rest] = path;
  if (step === undefined) return alternatives(shape);
  return alternatives(shape).flatMap((one) => {
    if (typeof step === 'number') return one.items ? shapesAt(one.items, rest) : [];
    const named = one.properties?.[String(step)];
    if (named) return shapesAt(named, rest);
    return typeof one.additionalProperties === 'object' ? shapesAt(one.additionalProperties, rest) : [];
  });
}

/** Known keys at a path. */
export const knownKeys = (shape: Shape, path: readonly PropertyKey[]): readonly string[] =>
  shapesAt(shape, path).flatMap((one) => Object.keys(one.properties ?? {}));

/** Allowed values in words: `a number from 0 to 4`. */
export function expectation(shapes: readonly Shape[]): string {
  return [...new Set(shapes.map(describeOne))].join(', or ');
}

function describeOne(shape: Shape): string {
  if (shape.expected) return shape.expected;
  if (shape.enum) return `one of ${shape.enum.map(String).join(', ')}`;
  switch (shape.type) {
    case 'integer':
    case 'number': {
      const word = shape.type === 'integer' ? 'a whole number' : 'a number';
      const from =
        shape.exclusiveMinimum !== undefined
          ? ` above ${shape.exclusiveMinimum}`
          : shape.minimum === undefined
            ? ''
            : ` from ${shape.minimum}`;
      const bounded = shape.maximum !== undefined && shape.maximum < Number.MAX_SAFE_INTEGER;
      return `${word}${from}${bounded ? ` to ${shape.maximum}` : from ? ' up' : ''}`.replace(/( above [^ ]+) up$/, '$1');
    }
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list of ${shape.items ? expectation(alternatives(shape.items)) : 'values'}`;
    case 'object':
      return 'a section with keys below it';
    case 'null':
      return 'null';
    default:
      return 'text';
  }
}

/** Closest candidate by edit distance; undefined if none is close enough to be a typo. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (!best || distance < best.distance) best = { candidate, distance };
  }
  return best && best.distance <= Math.max(2, Math.ceil(best.candidate.length / 2)) ? best.candidate : undefined;
}

/** Damerau-Levenshtein distance with adjacent transpositions (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const row = (i: number): number[] => Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0));
  const d = Array.from({ length: a.length + 1 }, (_, i) => row(i));
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      d[i]![j] = Math.min(d[i - 1]![j]! + 1, d[i]![j - 1]! + 1, d[i - 1]![j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d[i]![j] = Math.min(d[i]![j]!, d[i - 2]![j - 2]! + 1);
    }
  }
  return d[a.length]![b.length]!;
}
