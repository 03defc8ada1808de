import type * as z from 'zod';
import type { JsonSchema } from '../json-schema.js';
import type { Access } from './access.js';

/** A parameter in a query or a header. An empty one counts as absent. */
export interface Parameter {
  readonly name: string;
  readonly doc: string;
  /** Absent: any text. */
  readonly schema?: JsonSchema;
  /** Schema of a value that is written as JSON. */
  readonly json?: JsonSchema;
  readonly required?: true;
}

/** A whole number, at least `minimum`. */
export const from = (minimum: number): JsonSchema => ({ type: 'integer', minimum });
/** A position in a list or a stream, or a time: more than fifteen digits are refused. */
export const position: JsonSchema = { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 };
/** One of a few words. */
export const oneOf = (...words: readonly string[]): JsonSchema => ({ type: 'string', enum: words });

export interface Named {
  readonly name: string;
  readonly schema: z.ZodType;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** OpenAPI path; `{id+}` also matches slashes. */
  readonly path: string;
  /** Whose keys it accepts. */
  readonly access: Access;
  readonly summary: string;
  readonly request?: Named & {
    /** Whether null is a value of its own; otherwise a member with null counts as absent. */
    readonly nullIsValue?: true;
    /** A body that is accepted, to try the route with. */
    readonly example?: Readonly<Record<string, unknown>>;
  };
  /** Other accepted media types of the body, each with its meaning. */
  readonly uploads?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly response: Named | { readonly text: string | readonly string[] };
  /** Status and shape of an answer that is neither the usual one nor an error. */
  readonly otherwise?: Named & { readonly status: number; readonly doc: string };
  /** Shape of each `data:` line, if the route can answer with server-sent events. */
  readonly events?: Named;
  /** Shape of its errors; absent: `ErrorBody`. */
  readonly error?: Named;
  /** Values that a parameter of the path can have; absent: any text. */
  readonly inPath?: Readonly<Record<string, JsonSchema>>;
  readonly query?: readonly Parameter[];
  readonly headers?: readonly Parameter[];
  /** Member of the response that names what the request made, and the path under which it is then found. */
  readonly makes?: { readonly member: string; readonly at: string };
}
