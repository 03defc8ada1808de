import type * as z from 'zod';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** OpenAPI path; `{id+}` also matches slashes. */
  readonly path: string;
  readonly summary: string;
  readonly request?: { readonly name: string; readonly schema: z.ZodType };
  /** Other accepted media types of the body, each with its meaning. */
  readonly uploads?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly response: { readonly name: string; readonly schema: z.ZodType } | { readonly text: string };
  /** Shape of each `data:` line, if the route can answer with server-sent events. */
  readonly events?: { readonly name: string; readonly schema: z.ZodType };
  /** Shape of its errors; absent: `ErrorBody`. */
  readonly error?: { readonly name: string; readonly schema: z.ZodType };
  readonly query?: readonly { readonly name: string; readonly doc: string; readonly integer: boolean }[];
  readonly headers?: readonly { readonly name: string; readonly doc: string }[];
  /** Requires no API key, even if keys are configured. */
  readonly open?: boolean;
}
