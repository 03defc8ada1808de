import * as z from 'zod';

/** A JSON Schema without `$schema`. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema of a shape, without what only our own error messages read (`expected`). */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', target: 'draft-2020-12' | 'draft-7' = 'draft-2020-12'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    ...{ target, io, unrepresentable: 'any' },
    override: ({ zodSchema, jsonSchema }) => {
      delete jsonSchema['expected'];
      if (zodSchema._zod.def.type !== 'intersection' || target !== 'draft-2020-12') return;
      // Each side would refuse the members of the other.
      openObjects(jsonSchema);
      if (io === 'output') jsonSchema['unevaluatedProperties'] = false;
    },
  });
  return rest;
}

/** Lets the objects of an intersection, and of unions in it, have the members that its other side declares. */
function openObjects(schema: { [name: string]: unknown }): void {
  delete schema['additionalProperties'];
  for (const branches of [schema['allOf'], schema['anyOf'], schema['oneOf']])
    for (const branch of Array.isArray(branches) ? branches : []) openObjects(branch as Record<string, unknown>);
}

/** The schema of a body in which members with null count as absent: those that may be absent also take null. */
export function withNulls(schema: JsonSchema): JsonSchema {
  const branches = schema['oneOf'] as readonly JsonSchema[] | undefined;
  if (branches && !schema['properties']) return { ...schema, oneOf: branches.map(withNulls) };
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: readonly string[] };
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, required.includes(name) ? value : orNull(value)]),
    ),
  };
}

/** The schema, which also takes null. */
function orNull(schema: JsonSchema): JsonSchema {
  const { description, default: preset, ...shape } = schema;
  const notes = { ...(preset === undefined ? {} : { default: preset }), ...(description === undefined ? {} : { description }) };
  const branches = shape['anyOf'] as readonly JsonSchema[] | undefined;
  if (Object.keys(shape).length === 0 || branches?.some(({ type }) => type === 'null')) return schema;
  return { anyOf: [...(branches && Object.keys(shape).length === 1 ? branches : [shape]), { type: 'null' }], ...notes };
}

/**
 * A member of which only one value is accepted, or null. Others are refused where the request is read, with a sentence that says what to do
 * instead; so this accepts anything.
 */
export const only = (...values: readonly (string | number | boolean)[]) =>
  z
    .unknown()
    .optional()
    .meta({ enum: [...values, null] });

/** For a body that names one thing in one of two ways: exactly one of these members is a text. */
export const exactlyOne = (...names: readonly string[]) => ({
  oneOf: names.map((name) => ({ required: [name], properties: { [name]: { type: 'string' } } })),
});
