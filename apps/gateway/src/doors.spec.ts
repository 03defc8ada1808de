import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { loadConfiguration } from '@conclave/platform';
import { openDoors, type Doors } from './doors.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-doors-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Start {
  readonly yaml?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly own?: boolean;
  readonly lan?: boolean;
}
/** The access rules of a start with this configuration. */
function start({ yaml = '', variables = {}, own = false, lan = false }: Start): Doors {
  writeFileSync(join(folder, 'conclave.yaml'), yaml);
  const loaded = loadConfiguration({ ...variables }, folder);
  return openDoors({
    loaded,
    host: loaded.environment.HOST,
    adminKeyFile: own ? join(folder, 'admin.key') : null,
    lanKeyFile: lan ? join(folder, 'lan.key') : null,
  });
}
const refused = (options: Start): string => {
  try {
    start(options);
  } catch (error) {
    if (error instanceof Failure && error.code === 'CONFIGURATION_INVALID') return error.message;
    throw error;
  }
  return 'started';
};
const keys = 'keys: { ann: { key_env: ANN } }';
const ann = { ANN: 'sk-ann-of-the-doors' };
const beyond = ['0.0.0.0', '::', '192.168.1.5', '[::]', 'gateway.example', 'localhost.evil.com', '127.evil.com'];
const within = ['127.0.0.1', '127.0.0.7', 'localhost', '::1'];

describe('the authentication of a gateway', () => {
  it.each(beyond)('refuses to listen on %s without keys, with a message that says what to do', (HOST) => {
    for (const own of [false, true]) {
      const text = refused({ variables: { HOST }, own });
      for (const part of [HOST, '`npm start -- --lan`', '`keys`', 'CONCLAVE_ADMIN_KEY_FILE', '`access: open`', 'unset HOST'])
        expect(text).toContain(part);
      expect(existsSync(join(folder, 'admin.key'))).toBe(false);
    }
  });

  it.each(beyond)('allows %s with keys, with a key file, for a network with its own key, or with explicit consent', (HOST) => {
    const file = join(folder, 'secret.key');
    const guarded: readonly Start[] = [
      { yaml: keys, variables: { HOST, ...ann } },
      { variables: { HOST, CONCLAVE_ADMIN_KEY_FILE: file } },
      { variables: { HOST }, own: true, lan: true },
    ];
    for (const options of guarded) {
      const doors = start(options);
      expect([doors.keys !== null, doors.asked > 0, doors.access.open]).toEqual([true, true, false]);
    }
    expect(start({ yaml: 'access: open', variables: { HOST } })).toMatchObject({ keys: null, asked: 0, access: { open: true } });
  });

  it.each(within)('requires no key on %s unless keys are configured', (HOST) => {
    expect(start({ variables: { HOST } })).toMatchObject({ keys: null, asked: 0, admin: null });
    expect(start({ variables: { HOST }, own: true })).toMatchObject({ keys: null, asked: 0, admin: { made: true } });
    expect(start({ variables: { HOST, ...ann }, yaml: keys, own: true }).asked).toBe(2);
  });

  it('recognises the admin by a key that the first start generates, readable by its user only, and keeps it', async () => {
    const file = join(folder, 'admin.key');
    const { admin, access } = start({ own: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim()).toBe(admin!.value);
    expect(admin!.value).toMatch(/^sk-conclave-[\w-]{43}$/);
    expect(await access.known.identify(admin!.value)).toMatchObject({ name: 'admin.key', role: 'admin', tenant: 'default' });
    expect(await access.known.identify('sk-any')).toBeNull();
    expect(start({ own: true }).admin).toEqual({ ...admin, made: false });
  });

  it('assigns every key its role', async () => {
    const yaml = 'keys: { ann: { key_env: ANN, role: auditor }, bob: { key_env: BOB, role: admin }, cyd: { key_env: CYD, tenant: x } }';
    const { keys: known, lan } = start({ yaml, variables: { ...ann, BOB: 'sk-bob', CYD: 'sk-cyd' }, lan: true, own: true });
    const roles = await Promise.all([ann.ANN, 'sk-bob', 'sk-cyd', lan!.value].map(async (key) => (await known!.identify(key))?.role));
    expect(roles).toEqual(['auditor', 'admin', 'user', 'user']);
    expect(refused({ yaml: 'keys: { ann: { key_env: ANN, role: root } }', variables: ann })).toContain('role');
  });

  it('refuses files without a key, duplicate keys, and contradictory settings', () => {
    for (const text of ['', 'short', 'a key with several words in it'])
      for (const file of ['admin.key', 'other.key']) {
        writeFileSync(join(folder, file), text);
        expect(refused({ own: true, variables: file === 'admin.key' ? {} : { CONCLAVE_ADMIN_KEY_FILE: join(folder, file) } })).toContain(
          file,
        );
      }
    writeFileSync(join(folder, 'admin.key'), ann.ANN);
    expect(refused({ yaml: keys, variables: ann, own: true })).toContain('`ann` is the same as the one of admin.key');
    expect(refused({ yaml: `${keys}\naccess: open`, variables: ann })).toContain('`access: open` and `keys` are both set');
    expect(refused({ yaml: 'access: everybody' })).toContain('access');
    expect(refused({ yaml: 'allowed_hosts: ["http://x"]' })).toContain('allowed_hosts');
    for (const origin of ['*', 'chat.example.org', 'https://chat.example.org/', 'https://chat.example.org:443', 'null'])
      expect(refused({ yaml: `cors_origins: ["${origin}"]` })).toContain('cors_origins');
    expect(refused({ variables: { CONCLAVE_ADMIN_KEY_FILE: '/dev/null/admin.key' } })).toMatch(
      /\/dev\/null is not a folder, so it cannot hold admin\.key\. Name a folder \(CONCLAVE_HOME/,
    );
  });
});

describe('the containers', () => {
  /** Variables that the Dockerfile sets. */
  const environment = (): Record<string, string> =>
    Object.fromEntries(
      [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^ENV (.+)$/gm)].flatMap(([, line = '']) =>
        line.split(' ').map((pair) => pair.split('=') as [string, string]),
      ),
    );
  /** Moves a container's folders into a temporary folder. */
  const placed = (variables: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replace(/^\/data(?=\/|$)/, folder)]));

  it.each(['standalone', 'gateway'])('of %s starts unchanged, and every request needs the key that it created', (app) => {
    const variables = placed(environment());
    expect(variables['HOST']).toBe('0.0.0.0');
    const doors = start({ variables, own: app === 'standalone' });
    expect([doors.asked, doors.keys === null, doors.admin?.file]).toEqual([1, false, join(folder, 'admin.key')]);
  });

  it('of docker-compose.yml starts with its configuration, and keeps its key on a volume', () => {
    const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    const block = (from: RegExp, indent: string): string => new RegExp(`${from.source}\\n((?:${indent}.*\\n)+)`, 'm').exec(compose)![1]!;
    const gateway = block(/^ {2}gateway:/, '    ');
    const shared = block(/^x-environment: &environment/, '  ');
    const graph = block(/^x-graph: &graph/, '  ');
    const own = /^ {4}environment:\n {6}<<: \[\*environment, \*graph\]\n((?: {6}.*\n)+)/m.exec(gateway)![1]!;
    const written = [shared, graph, own]
      .flatMap((text) => text.split('\n'))
      .flatMap((line): [string, string][] => {
        const [, name, value = ''] = /^\s*([A-Z_0-9]+): (.*)$/.exec(line) ?? [];
        return name === undefined
          ? []
          : [
              [
                name,
                value
                  .replace(/^'(.*)'$/, '$1')
                  .replace(/\$\{\w+:-([^}]*)\}/g, '$1')
                  .replace(/\$\{(\w+):\?[^}]*\}/g, 'of-$1'),
              ],
            ];
      });
    expect(Object.fromEntries(written)).toMatchObject({ HOST: '0.0.0.0', ADMIN_PORT: '9464' });
    const variables = {
      ...placed({ ...environment(), ...Object.fromEntries(written) }),
      CONCLAVE_CONFIG: join(root, 'deploy/conclave.compose.yaml'),
    };
    const doors = start({ variables });
    expect([doors.asked, doors.admin?.made, doors.admin?.file]).toEqual([2, true, join(folder, 'admin.key')]);
    const [, kept = ''] = /^ +- (\w+):\/data$/m.exec(gateway)!;
    expect(compose.slice(compose.indexOf('\nvolumes:'))).toContain(`\n  ${kept}:\n`);
    expect(gateway).toContain(':/etc/conclave/conclave.yaml:ro');
  });
});
