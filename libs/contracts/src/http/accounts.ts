import * as z from 'zod';
import { ConfiguredRole, TenantName } from '../configuration/configuration.js';
import { Timestamp } from '../values.js';
import { KeyLimits } from '../configuration/key-limits.js';

const TemplateIds = z
  .array(z.string().min(1).max(300), { error: 'must be a list of ids' })
  .min(1, { error: 'must name at least one id' })
  .max(200)
  .nullable();

/** Rights of a key that an admin sets and changes. */
const KeyRights = z.object({
  name: z
    .string({ error: 'must be a text' })
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(100)
    .describe('for people; need not be unique'),
  role: ConfiguredRole.describe(
    'user: asks and changes; auditor: reads, also the audit and requests of other keys of the tenant; admin: does both, and uses the admin routes',
  ),
  detail: z.enum(['redacted', 'full']).describe('full: its runs keep prompts and raw replies, and it may read them'),
  templates: TemplateIds.describe('ids that it may ask, as `GET /v1/models` lists them; all others do not exist for it. null = all'),
  limits: KeyLimits.nullable().describe('null = no limits of its own'),
  user_limits: KeyLimits.nullable().describe('limits of each end user whom its requests name; null = none'),
  expires_at: Timestamp.nullable().describe('from then on it is refused; null = never'),
});

/** An API key as admins see it: never its value, nor a hash of it. */
export const KeyView = KeyRights.extend({
  object: z.literal('key'),
  // Keys that were issued before this limit existed do not have it.
  user_limits: KeyRights.shape.user_limits.default(null),
  id: z.string().describe('names the key in limits, usage and audit; does not change when its value is replaced'),
  tenant: z.string(),
  hint: z.string().describe('first and last characters of its value, so that its owner can recognise it'),
  state: z.enum(['active', 'expired', 'revoked']),
  created_at: Timestamp,
  created_by: z.string(),
  revoked_at: Timestamp.nullable(),
  former_value_until: Timestamp.nullable().describe('until then, the value before the last rotation is accepted too'),
});
export type KeyView = z.infer<typeof KeyView>;

export const KeyList = z.object({
  object: z.literal('list'),
  data: z.array(KeyView),
  nextBefore: z.string().nullable().describe('value of `before` for the next page; null on the last page'),
});
export type KeyList = z.infer<typeof KeyList>;

export const KeyRequest = z.strictObject({
  ...KeyRights.shape,
  tenant: TenantName.default('default').describe('tenant whose runs, documents, caches and knowledge it sees'),
  role: KeyRights.shape.role.default('user'),
  detail: KeyRights.shape.detail.default('redacted'),
  templates: TemplateIds.default(null),
  limits: KeyRights.shape.limits.default(null),
  user_limits: KeyRights.shape.user_limits.default(null),
  expires_at: KeyRights.shape.expires_at.default(null),
});
export type KeyRequest = z.infer<typeof KeyRequest>;

export const KeyCreated = KeyView.extend({ key: z.string().describe('its value, shown only here and never again') });
export type KeyCreated = z.infer<typeof KeyCreated>;

/** Absent members stay as they are. Unlike elsewhere, null is a value: it removes a limit. */
export const KeyChange = z.strictObject(KeyRights.shape).partial();
export type KeyChange = z.infer<typeof KeyChange>;

export const KeyRotation = z.strictObject({
  grace_s: z
    .int({ error: 'must be a whole number of seconds' })
    .min(0)
    .max(30 * 24 * 3_600)
    .default(0)
    .describe('seconds for which the old value is still accepted'),
});
export type KeyRotation = z.infer<typeof KeyRotation>;

/** The stored form of a key. */
export const StoredKey = KeyView.omit({ object: true, state: true, former_value_until: true }).extend({
  hash: z.string().describe('SHA-256 of its value, in hexadecimal digits'),
  former: z.object({ hash: z.string(), until: Timestamp }).nullable().describe('its value before the last rotation'),
});
export type StoredKey = z.infer<typeof StoredKey>;

export const TenantView = z.object({
  object: z.literal('tenant'),
  id: z.string(),
  limits: KeyLimits.nullable().describe('limits of all its keys together; null = none'),
  version: z.int().nonnegative().describe('number of changes so far; 0 = never changed'),
});
export type TenantView = z.infer<typeof TenantView>;
export const TenantList = z.object({ object: z.literal('list'), data: z.array(TenantView) });
export type TenantList = z.infer<typeof TenantList>;
export const TenantChange = z.strictObject({ limits: KeyLimits.nullable() });
export type TenantChange = z.infer<typeof TenantChange>;

/** The stored form of a tenant. */
export const StoredTenant = z.object({ limits: KeyLimits.nullable() });
export type StoredTenant = z.infer<typeof StoredTenant>;
