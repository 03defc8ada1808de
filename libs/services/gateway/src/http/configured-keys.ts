import { createHash } from 'node:crypto';
import type { Configuration } from '@conclave/contracts';
import type { ApiKeys, KeyOwner } from '../options.js';
import { fingerprint } from './caller.js';

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * Keys of the configuration; null where there are none: then any key is accepted. Only hashes are compared, so how long a
 * comparison takes says nothing about a key.
 */
export function configuredKeys(settings: Configuration['keys'], values: Readonly<Record<string, string>>): ApiKeys | null {
  const known = Object.entries(settings).flatMap(([name, { tenant, detail }]): [string, KeyOwner][] => {
    const value = values[name];
    return value === undefined ? [] : [[hashOf(value), { tenant, actor: fingerprint(value), detail }]];
  });
  if (Object.keys(settings).length === 0) return null;
  const owners = new Map(known);
  return { identify: (key) => Promise.resolve(key === null ? null : (owners.get(hashOf(key)) ?? null)) };
}
