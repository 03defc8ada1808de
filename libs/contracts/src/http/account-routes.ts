import { TenantName } from '../configuration/configuration.js';
import { jsonSchemaOf } from '../json-schema.js';
import { KeyChange, KeyCreated, KeyList, KeyRequest, KeyRotation, KeyView, TenantChange, TenantList, TenantView } from './accounts.js';
import { from, type Route } from './route.js';
import { usageGroups, UsageReport } from './usage.js';

const of = <S>(name: string, schema: S) => ({ name, schema });
const key = of('KeyView', KeyView);
const created = of('KeyCreated', KeyCreated);

const day = { type: 'string', format: 'date' };
const oneGroup = `(${usageGroups.join('|')})`;
const groups = { type: 'string', pattern: `^${oneGroup}(,${oneGroup})*$` };

/** Issued API keys and tenants. An admin of the tenant `default` administers all tenants, any other admin only its own. */
export const accountRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/usage',
    access: 'read',
    summary:
      'What was spent: by the key of the request, and for auditors and admins by every key of the tenant. Each run lists its own calls.',
    status: 200,
    response: of('UsageReport', UsageReport),
    query: [
      { name: 'from', doc: 'first day (UTC) such as 2026-11-01; by default the first of the month of `to`', schema: day },
      { name: 'to', doc: 'last day (UTC); today by default', schema: day },
      { name: 'group_by', doc: 'any of day, key, model, user, with commas between them; all by default', schema: groups },
      { name: 'key', doc: 'only this key' },
      { name: 'user', doc: 'only this end user: the id that its client sends, or the hash' },
      { name: 'tenant', doc: 'another tenant; for admins of the tenant `default`' },
    ],
  },
  {
    method: 'POST',
    path: '/v1/admin/keys',
    access: 'administer',
    summary: 'Issues an API key. Its value is only in this response: only a hash of it is stored.',
    request: { ...of('KeyRequest', KeyRequest), example: { name: 'front end', tenant: 'research', templates: ['conclave-fast'] } },
    status: 201,
    response: created,
    makes: { member: 'id', at: '/v1/admin/keys/{id}' },
  },
  {
    method: 'GET',
    path: '/v1/admin/keys',
    access: 'administer',
    summary: 'Issued keys, newest first, without those of the configuration.',
    status: 200,
    response: of('KeyList', KeyList),
    query: [
      { name: 'tenant', doc: 'only those of this tenant' },
      { name: 'limit', doc: '1 to 200, default 50', schema: from(1) },
      { name: 'before', doc: '`nextBefore` of the previous page', schema: { type: 'string', pattern: '^\\d{1,15}\\..{1,200}$' } },
    ],
  },
  { method: 'GET', path: '/v1/admin/keys/{id}', access: 'administer', summary: 'An issued key.', status: 200, response: key },
  {
    method: 'PATCH',
    path: '/v1/admin/keys/{id}',
    access: 'administer',
    summary:
      'Changes rights, limits or expiry of a key, on all gateways within two seconds. Absent members keep their value; null removes a limit.',
    request: { ...of('KeyChange', KeyChange), nullIsValue: true, example: { limits: null } },
    status: 200,
    response: key,
  },
  {
    method: 'POST',
    path: '/v1/admin/keys/{id}/rotate',
    access: 'administer',
    summary: 'Replaces the value of a key. The new value is only in this response; the old one is accepted for `grace_s` more seconds.',
    request: { ...of('KeyRotation', KeyRotation), example: { grace_s: 3_600 } },
    status: 200,
    response: created,
  },
  {
    method: 'DELETE',
    path: '/v1/admin/keys/{id}',
    access: 'administer',
    summary: 'Revokes a key for good, on all gateways within two seconds. Its open requests are cut, and their runs cancelled.',
    status: 200,
    response: key,
  },
  {
    method: 'GET',
    path: '/v1/admin/tenants',
    access: 'administer',
    summary: 'Tenants that have issued keys or limits.',
    status: 200,
    response: of('TenantList', TenantList),
  },
  {
    method: 'PATCH',
    path: '/v1/admin/tenants/{id}',
    access: 'operate',
    summary: 'Sets the limits of all keys of a tenant together.',
    request: { ...of('TenantChange', TenantChange), nullIsValue: true, example: { limits: null } },
    inPath: { id: jsonSchemaOf(TenantName, 'input') },
    status: 200,
    response: of('TenantView', TenantView),
  },
];
