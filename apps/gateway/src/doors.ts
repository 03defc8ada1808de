import { Failure } from '@conclave/contracts';
import type { Loaded } from '@conclave/platform';
import { configuredKeys, isLoopback, knownKeys, type GatewayOptions, type NamedKey } from '@conclave/service-gateway';
import { openKeyFile, type KeyFile } from './key-file.js';

export interface DoorsOptions {
  readonly loaded: Pick<Loaded, 'configuration' | 'environment' | 'secrets'>;
  /** Address to listen on. */
  readonly host: string;
  /** File of the admin key, unless CONCLAVE_ADMIN_KEY_FILE is set; null: none. */
  readonly adminKeyFile: string | null;
  /** File of the key for programs on other machines; null: none. */
  readonly lanKeyFile?: string | null;
}

/** Access rules of a gateway. Missing key files have been created. */
export interface Doors {
  readonly keys: GatewayOptions['keys'];
  readonly access: NonNullable<GatewayOptions['access']>;
  /** Number of keys; every request needs one of them. 0: no key is required. */
  readonly asked: number;
  readonly admin: KeyFile | null;
  readonly lan: KeyFile | null;
}

/**
 * Reads the keys and decides on access from other machines, which requires a deliberately configured key. The admin key in the data
 * folder is not enough, since it is created automatically; one named by CONCLAVE_ADMIN_KEY_FILE is. Throws CONFIGURATION_INVALID.
 */
export function openDoors({ loaded, host, adminKeyFile, lanKeyFile = null }: DoorsOptions): Doors {
  const { configuration, environment, secrets } = loaded;
  const { CONCLAVE_ADMIN_KEY_FILE: named } = environment;
  const configured = configuredKeys(configuration.keys, secrets.clientKeys);
  const isOpen = configuration.access === 'open';
  const isBeyond = !isLoopback(host);
  if (isBeyond && !isOpen && configured.length === 0 && named === undefined && lanKeyFile === null) throw unguarded(host);

  const file = named ?? adminKeyFile;
  const admin = file === null ? null : openKeyFile(file);
  const lan = lanKeyFile === null ? null : openKeyFile(lanKeyFile);
  const own = [...ownKey('admin.key', 'admin', admin), ...ownKey('lan.key', 'user', lan)];
  for (const { name, value } of own) {
    const same = configured.find((key) => key.value === value);
    if (same)
      throw new Failure('CONFIGURATION_INVALID', `The key \`${same.name}\` is the same as the one of ${name}. Give each a key of its own.`);
  }
  const keyless = configured.length === 0 && lan === null && (!isBeyond || isOpen);
  const all = [...configured, ...own];
  return {
    keys: keyless ? null : knownKeys(all),
    access: {
      known: knownKeys(all),
      allowedHosts: configuration.allowed_hosts,
      origins: configuration.cors_origins,
      open: isOpen,
      trustedProxies: configuration.gateway.trusted_proxies,
    },
    asked: keyless ? 0 : all.length,
    admin,
    lan,
  };
}

const ownKey = (name: string, role: NamedKey['role'], key: KeyFile | null): readonly NamedKey[] =>
  key === null ? [] : [{ name, value: key.value, tenant: 'default', role }];

const unguarded = (host: string): Failure =>
  new Failure(
    'CONFIGURATION_INVALID',
    [
      `HOST is ${host}, which other machines can reach, and there are no API keys, so anyone could ask, read every question and spend your money. Do one of these:`,
      '  - unset HOST: then only this machine can connect',
      '  - start with `npm start -- --lan`: it creates a key and says how to use it',
      '  - name keys under `keys` in conclave.yaml',
      '  - set CONCLAVE_ADMIN_KEY_FILE to the file of a key, which is created if it is missing',
      '  - write `access: open` in conclave.yaml, to answer everyone',
    ].join('\n'),
  );
