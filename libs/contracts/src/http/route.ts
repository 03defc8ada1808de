import type * as z from 'zod';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** OpenAPI path; `{id+}` takes slashes too. */
  readonly path: string;
  readonly summary: string;
  readonly request?: { readonly name: string; readonly schema: z.ZodType };
  /** Other media types the body may have, each with what it is then. */
  readonly uploads?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly response: { readonly name: string; readonly schema: z.ZodType } | { readonly text: string };
  /** Shape of each `data:` line where the route can answer with server-sent events. */
  readonly events?: { readonly name: string; readonly schema: z.ZodType };
  readonly query?: readonly { readonly name: string; readonly doc: string; readonly integer: boolean }[];
  readonly headers?: readonly { readonly name: string; readonly doc: string }[];
  /** No API key is asked for, even where keys are configured. */
  readonly open?: boolean;
}
