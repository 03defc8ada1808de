import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { loadConfiguration } from './load.js';
import type { SecretHolder } from './secrets.js';

const folder = mkdtempSync(join(tmpdir(), 'conclave-holders-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(
  join(folder, 'conclave.yaml'),
  [
    'providers: { own: { base_url: "http://127.0.0.1:9/v1", api_key_env: PROVIDER } }',
    'keys: { chat: { key_env: CLIENT } }',
    'webhooks: { audit: { url: "https://hooks.example.org/", secret_env: WEBHOOK } }',
    'stores:',
    '  kafka: { brokers: ["127.0.0.1:9"] }',
    '  redis: { url: "redis://127.0.0.1:9", password_env: REDIS }',
    '  neo4j: { url: "bolt://127.0.0.1:9", user_env: GRAPH_USER, password_env: GRAPH }',
  ].join('\n'),
);
const signing = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const all = { PROVIDER: 'p', CLIENT: 'c', WEBHOOK: signing, REDIS: 'r', GRAPH_USER: 'g', GRAPH: 'g' };
const shared = ['PROVIDER', 'REDIS'] as const;
const load = (names: readonly (keyof typeof all)[], secretsOf?: SecretHolder, more: Record<string, string> = {}) =>
  loadConfiguration({ ...Object.fromEntries(names.map((name) => [name, all[name]])), CONCLAVE_HOME: folder, ...more }, folder, {
    sharesStores: true,
    ...(secretsOf ? { secretsOf } : {}),
  });

describe('a service of a cluster', () => {
  it.each([
    ['gateway', [...shared, 'CLIENT', 'GRAPH_USER', 'GRAPH']],
    ['planner', [...shared, 'GRAPH_USER', 'GRAPH']],
    ['experts', [...shared, 'GRAPH_USER', 'GRAPH']],
    ['merger', [...shared, 'WEBHOOK']],
    ['graph-ingest', [...shared, 'GRAPH_USER', 'GRAPH']],
  ] as const)('%s starts with the secrets that it needs: %j', (service, needed) => {
    const { secrets } = load(needed, service);
    expect(secrets.providerKeys).toEqual({ own: 'p' });
    for (const name of needed) {
      const without = needed.filter((one) => one !== name);
      expect(() => load(without, service)).toThrow(new RegExp(`${name} is not set`));
    }
    // A service does not read secrets that it does not need, even if they are available.
    const { clientKeys, webhooks, neo4j } = load(Object.keys(all) as (keyof typeof all)[], service).secrets;
    expect([clientKeys['chat'], webhooks['audit']?.secret, neo4j.password]).toEqual([
      service === 'gateway' ? 'c' : undefined,
      service === 'merger' ? signing : undefined,
      service === 'merger' ? undefined : 'g',
    ]);
  });

  it('lends its environment to commands that name it; others need every secret', () => {
    expect(load([...shared, 'WEBHOOK'], undefined, { CONCLAVE_SERVICE: 'merger' }).secrets.clientKeys).toEqual({});
    expect(() => load([...shared, 'WEBHOOK'])).toThrow(/CLIENT is not set/);
  });
});
