import { type OutputUnit, type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema';
import { Failure } from '@conclave/contracts';
import { boundedRun, oneLine, tookTooLong, type JsonObject } from '@conclave/ports';
import { withoutOtherChoices } from './union-errors.js';

const longestProblem = 400;
/** Maximum number of faults that are reported at once. */
const mostFaults = 4;

/** Keywords whose error only says that a nested part has an error. */
const containers: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'items',
  'prefixItems',
  'additionalProperties',
  'unevaluatedProperties',
  'allOf',
  'then',
  'else',
  'dependentSchemas',
  '$ref',
  '$dynamicRef',
]);

/** Checks values against one JSON Schema of a server. The schema is interpreted: no code is made from it. */
export class SchemaCheck {
  private validator: Validator | null = null;
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
      return boundedRun(() => {
        this.validator ??= new Validator(this.schema as Schema, draftOf(this.schema), false);
        const { valid, errors } = this.validator.validate(value);
        return valid ? null : sentences(errors);
      }, this.longestMs);
    } catch (error) {
      this.unusable = new Failure(
        'TOOL_FAILED',
        tookTooLong(error) ? 'Its schema takes too long to check.' : 'Its schema cannot be read.',
        {
          cause: error,
        },
      );
      throw this.unusable;
    }
  }
}

/** MCP's own draft unless the schema names an older one. */
function draftOf({ $schema }: JsonObject): SchemaDraft {
  const named = typeof $schema === 'string' ? /draft[-/]?(04|07|2019-09)/.exec($schema)?.[1] : undefined;
  return named === '04' ? '4' : named === '07' ? '7' : named === '2019-09' ? '2019-09' : '2020-12';
}

function sentences(all: readonly OutputUnit[]): string {
  const errors = withoutOtherChoices(all, containers);
  const inner = errors.filter(({ keyword }) => !containers.has(keyword));
  const said = new Set((inner.length > 0 ? inner : errors).map(sentenceOf));
  return oneLine([...said].slice(0, mostFaults).join(' '), longestProblem);
}

function sentenceOf({ instanceLocation, keyword, error }: OutputUnit): string {
  const path = pathOf(instanceLocation);
  if (keyword === 'false') return `There is no argument \`${oneLine(path, 60)}\`.`;
  const missing = keyword === 'required' ? /^Instance does not have required property "(.*)"\.$/s.exec(error)?.[1] : undefined;
  if (missing !== undefined) return `\`${[path, missing].filter(Boolean).join('.')}\` is missing.`;
  const type = keyword === 'type' ? /Expected (.*)\.$/s.exec(error)?.[1]?.replaceAll('"', '') : undefined;
  if (type !== undefined) return `${path === '' ? 'It' : `\`${oneLine(path, 120)}\``} must be ${type}.`;
  return path === '' ? error : `\`${oneLine(path, 120)}\`: ${error}`;
}

/** Rewrites the JSON pointer of a fault as a readable path; empty for the whole. */
const pathOf = (pointer: string): string =>
  decoded(pointer.replace(/^#\/?/, ''))
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');

function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    // A name with a lone `%` is shown unchanged.
    return text;
  }
}
