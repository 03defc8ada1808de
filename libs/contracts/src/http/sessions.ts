import * as z from 'zod';
import { ConfiguredRole } from '../configuration/configuration.js';
import { exactlyOne } from '../json-schema.js';
import type { Route } from './route.js';

/** Cookie of a page that is signed in. */
export const sessionCookie = 'conclave_session';
/** Header in which a page that is signed in sends `csrf` with every request that changes something. */
export const csrfHeader = 'x-conclave-csrf';

export const SessionRequest = z
  .strictObject({
    key: z.string({ error: 'must be a text' }).min(1).max(1_000).optional().describe('an API key'),
    token: z.string({ error: 'must be a text' }).min(1).max(200).optional().describe('the token of a one-time link, instead of a key'),
  })
  .meta(exactlyOne('key', 'token'));
export type SessionRequest = z.infer<typeof SessionRequest>;

export const SessionView = z.object({
  object: z.literal('session'),
  role: ConfiguredRole.describe('what the caller may do: user, auditor, admin'),
  tenant: z.string().describe('whose runs, documents and knowledge it sees; admins of `default` administer all tenants'),
  key_name: z.string().nullable().describe('name of its key; null without one'),
  may_change: z.boolean().describe('whether it may ask, upload, rate and delete; false for a key with the role auditor'),
  keyless: z.boolean().describe('whether this gateway also answers without a key; admin routes never do'),
  csrf: z
    .string()
    .nullable()
    .describe(`to be sent as \`${csrfHeader}\` with every request that changes something; null if no cookie identifies the caller`),
  expires_at: z.number().nullable().describe('when the session ends at the latest (milliseconds since 1970); null without a session'),
});
export type SessionView = z.infer<typeof SessionView>;

export const SessionEnded = z.object({ object: z.literal('session'), ended: z.literal(true) });
export type SessionEnded = z.infer<typeof SessionEnded>;

const of = <S>(name: string, schema: S) => ({ name, schema });

/** How a page in a browser is signed in: a cookie that its scripts cannot read represents the key. */
export const sessionRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/session',
    access: 'open',
    summary: 'Signs a page in: the cookie of the response replaces the key on every route, until the session or the key ends.',
    request: { ...of('SessionRequest', SessionRequest), example: { key: 'sk-cv-…' } },
    status: 200,
    response: of('SessionView', SessionView),
  },
  {
    method: 'GET',
    path: '/v1/session',
    access: 'read',
    summary: 'Who the caller is, by its cookie or key; 401 if a key is needed and the request has neither.',
    status: 200,
    response: of('SessionView', SessionView),
  },
  {
    method: 'DELETE',
    path: '/v1/session',
    access: 'read',
    summary: 'Signs the page out: its cookie is invalid from now on, at every gateway.',
    status: 200,
    response: of('SessionEnded', SessionEnded),
  },
];
