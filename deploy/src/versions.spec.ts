import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
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

  it('starts Redis with the arguments of the local stack', () => {
    const list = /^ {4}command: \[redis-server, (.*)\]$/m.exec(service('redis'))?.[1] ?? '';
    expect(list.split(', ').map((word) => word.replace(/^'(.*)'$/, '$1'))).toEqual([...redisArguments, '--protected-mode', 'no']);
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
