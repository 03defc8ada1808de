import * as z from 'zod';

const Hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ expected: 'a SHA-256 in hex' });
const Moment = z.iso.datetime();

/** The form of a record's body on the log. */
export const AuditBody = z.enum(['plain', 'stored', 'sealed', 'erased', 'unreadable']);
export type AuditBody = z.infer<typeof AuditBody>;

/** One line of an exported audit: a record of the log, chained to the one before it. */
export const AuditLine = z.strictObject({
  seq: z.int().positive().describe('number of the line, from 1'),
  prev: Hash.describe('`hash` of the line before; of the first line: 64 zeros'),
  hash: Hash.describe(
    'SHA-256 of the JSON list of prev, seq, place, appended_at, made_at, id, type, source, run and body_sha256: it stays the same when the body is erased',
  ),
  check: Hash.describe('SHA-256 of the JSON list of hash, tenant, body and data'),
  place: z.string().describe('topic/partition/offset'),
  appended_at: Moment.describe('when the log accepted the record'),
  made_at: Moment.nullable().describe('when the event was made'),
  id: z.string().nullable().describe('id of the event'),
  type: z.string().nullable().describe('type of the event'),
  source: z.string().nullable().describe('service that sent it'),
  run: z.string().nullable().describe('its run; `settings` and `detail-reads` are not runs'),
  tenant: z
    .string()
    .nullable()
    .describe('owner of the run, key or request; null for events that concern all tenants, or if the tenant is no longer known'),
  body_sha256: Hash.describe('SHA-256 of the bytes of the body as they are, or were, on the log: the sealed bytes if it is sealed'),
  body: AuditBody.describe(
    '`plain`: `data` is the body, byte for byte; `stored`: it was above 64 KB and is stored separately; `sealed`: encrypted on the log; `erased`: its run was deleted; `unreadable`: not an event that this version knows',
  ),
  data: z.unknown().describe('body of the event; null if it is erased or unreadable'),
});
export type AuditLine = z.infer<typeof AuditLine>;

/** The statement of an export's last line about the lines before it. */
export const AuditHead = z.strictObject({
  format: z.literal(1),
  count: z.int().nonnegative().describe('lines before this one'),
  first: Moment.nullable().describe('`appended_at` of the first line'),
  last: Moment.nullable().describe('`appended_at` of the last line'),
  hash: Hash.describe('`hash` of the last line; 64 zeros without one'),
  content: Hash.describe('SHA-256 over the `check` of every line, one after the other in hex'),
  tenant: z.string().nullable().describe('only records of this tenant; null: of all'),
  run: z.string().nullable().describe('only records of this run and its child runs'),
  since: Moment.nullable().describe('only records that the log accepted at this time or later'),
  until: Moment.nullable().describe('only records that the log accepted at this time or earlier'),
  exported_at: Moment,
  exported_by: z.string().describe('who asked for it'),
});
export type AuditHead = z.infer<typeof AuditHead>;

/** The last line of an export. */
export const AuditSeal = z.strictObject({
  head: AuditHead,
  public_key: z.string().describe('Ed25519 public key of the exporter: DER (SPKI) in base64'),
  signature: z.string().describe('Ed25519 signature of the JSON text of `head`, in base64'),
});
export type AuditSeal = z.infer<typeof AuditSeal>;
