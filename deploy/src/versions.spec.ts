import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { passwords, writePasswords } from '../compose-passwords.mjs';
import { images, kafkaSettings, redisArguments, versions } from '../stack/versions.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const compose = read('docker-compose.yml');
const apps = ['gateway', 'planner', 'experts', 'merger', 'graph-ingest', 'standalone'];

/** Lines of one service of docker-compose.yml, up to the next service or section. */
function service(name: string): string {
  const found = new RegExp(`^ {2}${name}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(compose);
  if (!found?.[1]) throw new Error(`docker-compose.yml has no service ${name}.`);
  return found[1];
}

describe('docker-compose.yml', () => {
  it.each(Object.entries(images))('runs %s from the image of the local stack', (name, image) => {
    expect(/^ {4}image: (.*)$/m.exec(service(name))?.[1]).toBe(image);
  });

  it.each(Object.entries(kafkaSettings))('gives the broker %s = %s as the local stack does', (setting, value) => {
    const variable = `KAFKA_${setting.toUpperCase().replaceAll('.', '_')}`;
    expect(new RegExp(`^ {6}${variable}: '?([^'\\n]*)'?$`, 'm').exec(service('kafka'))?.[1]).toBe(value);
  });

  it('starts Redis with the arguments of the local stack, and with a password', () => {
    const words = (text: string) => {
      const list = /^ {4}command:\s+\[\s*redis-server,([^\]]*)\]$/m.exec(text)?.[1] ?? '';
      return list.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim().replace(/^'(.*)'$/, '$1')]));
    };
    const given = words(service('redis'));
    expect(given.slice(0, -1)).toEqual([...redisArguments, '--requirepass']);
    expect(given.at(-1)).toMatch(/^\$\{REDIS_PASSWORD:\?/);
    expect(words(read('deploy/stack/docker-compose.open.yml'))).toEqual([...redisArguments, '--protected-mode', 'no']);
  });

  it('has no password of its own: each must be set, and one command makes them all', () => {
    const wanted = [...compose.matchAll(/\$\{(\w*(?:PASSWORD|SECRET|TOKEN)\w*)([^}]*)\}/g)];
    expect([...new Set(wanted.map(([, name]) => name))].sort()).toEqual([...passwords].sort());
    for (const [all, , rest] of wanted) expect([all, rest?.startsWith(':?')]).toEqual([all, true]);
    expect(compose.match(/^\s+\w*(?:PASSWORD|SECRET|AUTH)\w*: .*$/gm)?.filter((line) => !line.includes('${'))).toEqual([]);
    expect(read('deploy/conclave.compose.yaml')).toContain('password_env: REDIS_PASSWORD');

    const folder = mkdtempSync(path.join(tmpdir(), 'conclave-env-'));
    try {
      const file = path.join(folder, '.env');
      writeFileSync(file, 'PORT=8081\nNEO4J_PASSWORD=of-mine', { mode: 0o644 });
      expect(writePasswords(file)).toEqual(['REDIS_PASSWORD', 'SEARXNG_SECRET', 'GRAFANA_PASSWORD']);
      const first = readFileSync(file, 'utf8');
      expect(first).toMatch(/^PORT=8081\nNEO4J_PASSWORD=of-mine\nREDIS_PASSWORD=[0-9a-f]{48}\nSEARXNG_SECRET=[0-9a-f]{48}\nGRAFANA_PASSWORD=[0-9a-f]{48}\n$/);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect([writePasswords(file), readFileSync(file, 'utf8')]).toEqual([[], first]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('lets experts be scaled: no fixed name, no published port', () => {
    expect(service('experts')).not.toMatch(/container_name|ports:/);
  });

  it.each(['gateway', 'planner', 'experts', 'merger', 'graph-ingest'])(
    'builds %s by its name from the one Dockerfile, with init',
    (name) => {
      expect(service(name)).toContain(`build: { context: ., args: { APP: ${name}, BASE:`);
      expect(service(name)).toContain('<<: *service');
    },
  );

  it('publishes ports on this machine only', () => {
    const published = compose.match(/^ {4}ports: .*$/gm) ?? [];
    expect(published.length).toBeGreaterThan(0);
    expect(published.filter((line) => !line.includes("['127.0.0.1:"))).toEqual([]);
  });
});

describe('the own lockfile of ChromaDB', () => {
  it('asks for the version of the stack', () => {
    const { dependencies } = JSON.parse(read('deploy/stack/chroma/package.json')) as { dependencies: { chromadb: string } };
    expect(dependencies.chromadb).toBe(versions.chromadb);
  });
});

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  it('runs the program that APP names, not as root, from a base that can be replaced', () => {
    expect(dockerfile).toContain('ARG BASE=node:24-slim\n');
    expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(dockerfile).toContain('CMD ["sh", "-c", "exec node dist/$CONCLAVE_APP.js"]');
    expect(dockerfile).not.toMatch(/^# *syntax=/m);
    const app = /^ARG APP=(.*)$/m.exec(dockerfile)?.[1];
    expect(apps).toContain(app);
  });

  it.each(apps)('finds a program for %s', (app) => {
    expect(existsSync(path.join(root, 'apps', app, 'src/main.ts'))).toBe(true);
  });

  it('ships one version of SymPy, readable for a program without write access', () => {
    const [, of = '', last = ''] = dockerfile.split(/^FROM .*$/m).slice(1);
    expect(of).toMatch(/^RUN .*python3-venv .*python3 -m venv \/opt\/sympy /m);
    expect(of).toMatch(/pip install --no-cache-dir sympy==\d+\.\d+\.\d+ mpmath==\d+\.\d+\.\d+ /);
    const [asRoot = '', asUser = ''] = last.split(/^USER .*$/m);
    expect(asRoot).toMatch(/^RUN apt-get update && apt-get install -y --no-install-recommends python3 /m);
    expect(asRoot).toContain('COPY --from=sympy /opt/sympy /opt/sympy\n');
    expect(asRoot).toContain('ENV PATH=/opt/sympy/bin:$PATH\n');
    expect(asUser).not.toMatch(/^(RUN|COPY)/m);
    expect(compose).not.toContain('math.python');
  });

  it('sets the app after all slow steps, so that these are built once for all images', () => {
    const [, after = ''] = dockerfile.split(/^ARG APP=.*$/m);
    expect(dockerfile.match(/^ARG APP=/gm)).toHaveLength(1);
    expect(after).not.toMatch(/^(RUN|COPY|FROM)/m);
  });

  it('fills the compile cache that the programs then use', () => {
    const [before = '', after = ''] = dockerfile.split(/^ENV NODE_COMPILE_CACHE=.*$/m);
    expect(before).toContain('COPY --from=build /src/dist ./dist');
    expect(after).toMatch(/^RUN .*dist\/.*node/m);
  });
});
