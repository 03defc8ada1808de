import vm from 'node:vm';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { Failure } from '@conclave/contracts';
import { isJsonObject, oneLine, type JsonObject } from '@conclave/ports';

const longestProblem = 400;

const script = new vm.Script('run()');
const context = vm.createContext({ run: null });

/** Runs a function and stops it after `ms`, even inside a regular expression: Node's script timeout covers everything the script calls. */
function within<T>(run: () => T, ms: number): T {
  let result: { readonly value: T } | undefined;
  context.run = () => {
    result = { value: run() };
  };
  try {
    script.runInContext(context, { timeout: ms });
  } finally {
    context.run = null;
  }
  return result!.value;
}

/** Checks values against one JSON Schema of a server. */
export class SchemaCheck {
  private validate: JsonSchemaValidator<unknown> | null = null;
  private unusable: Failure | null = null;

  /** `longestMs` bounds a check: a foreign schema may have patterns that never finish, or endlessly nested references. */
  constructor(
    private readonly schema: JsonObject,
    private readonly longestMs: number,
  ) {}

  /** Returns what is wrong with a value in one line, or null. Throws TOOL_FAILED for a schema that is unreadable or takes too long. */
  problem(value: JsonObject): string | null {
    if (this.unusable) throw this.unusable;
    try {
      return within(() => {
        // A separate validator: schemas of two tools may use the same `$id`.
        this.validate ??= new AjvJsonSchemaValidator().getValidator(readable(this.schema));
        const { errorMessage } = this.validate(value);
        return errorMessage === undefined ? null : this.sentences(errorMessage, value);
      }, this.longestMs);
    } catch (error) {
      const slow = (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      this.unusable = new Failure('TOOL_FAILED', slow ? 'Its schema takes too long to check.' : 'Its schema cannot be read.', {
        cause: error,
      });
      throw this.unusable;
    }
  }

  private sentences(errors: string, value: JsonObject): string {
    const properties = isJsonObject(this.schema.properties) ? this.schema.properties : {};
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
    const sentences = errors
      .slice(0, 8 * longestProblem)
      .split(/, (?=data\b)/)
      .map((error) => {
        const missing = /^data(\S*) must have required property '(.+)'$/s.exec(error);
        if (missing) return `\`${pathOf(`${missing[1]}/${missing[2]}`)}\` is missing.`;
        if (/^data must NOT have (additional|unevaluated) properties$/.test(error) && unknown.length > 0)
          return `There is no argument ${unknown
            .slice(0, 3)
            .map((name) => `\`${oneLine(name, 60)}\``)
            .join(', ')}.`;
        return error.replace(/^data(\/\S*)?/, (_all, path: string | undefined) => (path ? `\`${pathOf(path)}\`` : 'It')) + '.';
      });
    return oneLine([...new Set(sentences)].slice(0, 4).join(' '), longestProblem);
  }
}

/** Rewrites a JSON pointer as a readable path. */
const pathOf = (pointer: string): string =>
  pointer
    .replace(/^\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');

/**
 * The schema without its dialect and address, which no check needs, and without `$async`, which makes the validator return a promise: it
 * would count as valid, and its rejection would crash this process.
 */
function readable(schema: JsonObject): JsonObject {
  const { $schema, $id, id, ...rest } = JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$async' ? undefined : value,
  ) as JsonObject;
  return rest;
}
