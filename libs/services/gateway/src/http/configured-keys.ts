import type { Configuration } from '@conclave/contracts';
import { hashOfKey } from '../accounts/key-value.js';
import type { ApiKeys, KeyOwner } from '../options.js';
import { fingerprint } from './caller.js';

/** A known key and its owner. */
export interface NamedKey extends Pick<KeyOwner, 'name' | 'tenant' | 'role' | 'detail' | 'limits' | 'userLimits'> {
  readonly value: string;
}

/** Looks up known keys. Compares only hashes, so timing reveals nothing about a key. */
export function knownKeys(keys: readonly NamedKey[]): ApiKeys {
  const owners = new Map(
    keys.map(({ value, ...owner }): [string, KeyOwner] => [
      hashOfKey(value),
      { ...owner, keyId: `static:${owner.name}`, actor: fingerprint(value) },
    ]),
  );
  const identifyHash = (hash: string) => Promise.resolve(owners.get(hash) ?? null);
  return { identifyHash, identify: (key) => (key === null ? Promise.resolve(null) : identifyHash(hashOfKey(key))) };
}

/** Keys that are named in the configuration and have a value. */
export const configuredKeys = (settings: Configuration['keys'], values: Readonly<Record<string, string>>): readonly NamedKey[] =>
  Object.entries(settings).flatMap(([name, { tenant, detail, role, limits, user_limits: userLimits }]): NamedKey[] => {
    const value = values[name];
    return value === undefined
      ? []
      : [
          {
            name,
            value,
            tenant,
            role,
            ...(detail === 'full' ? { detail } : {}),
            ...(limits ? { limits } : {}),
            ...(userLimits ? { userLimits } : {}),
          },
        ];
  });
