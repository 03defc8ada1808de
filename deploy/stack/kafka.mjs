import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { classArchiveFlags, jarsOf, keepClassArchive, missingForJava } from './java.mjs';
import { probeKafka } from './probes.mjs';
import { run } from './processes.mjs';
import { kafkaSettings, versions } from './versions.mjs';

const properties = (folder) => path.join(folder, 'server.properties');

/**
 * Broker settings of one instance. `proxied` adds a listener for fault tests: the broker listens on `listenPort` but
 * sends its clients to `advertisedPort`, where the test runs a proxy.
 */
export function brokerSettings({ folder, ports, settings = {}, proxied }) {
  const listeners = [`PLAINTEXT://127.0.0.1:${ports.kafka}`, `CONTROLLER://127.0.0.1:${ports.kafkaController}`];
  const advertised = [...listeners];
  const protocols = ['PLAINTEXT:PLAINTEXT', 'CONTROLLER:PLAINTEXT'];
  if (proxied) {
    listeners.push(`PROXIED://127.0.0.1:${proxied.listenPort}`);
    advertised.push(`PROXIED://127.0.0.1:${proxied.advertisedPort}`);
    protocols.push('PROXIED:PLAINTEXT');
  }
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${ports.kafkaController}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: listeners.join(','),
    'advertised.listeners': advertised.join(','),
    'listener.security.protocol.map': protocols.join(','),
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': path.join(folder, 'logs'),
    ...kafkaSettings,
    ...settings,
  };
}

/** Cluster id the folder was formatted with; null for a new folder. Formatting with another id fails. */
function ownClusterId(folder) {
  const file = path.join(folder, 'logs', 'meta.properties');
  if (!existsSync(file)) return null;
  return /^cluster\.id=(\S+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? null;
}

const newClusterId = () => randomBytes(16).toString('base64url').replace(/^-/, 'A'); // a leading minus would be read as an option

/** A single KRaft broker from Maven's jars. Topics are created by the application. */
export const kafka = {
  name: 'kafka',
  title: `Kafka ${versions.kafka}`,
  portNames: ['kafka', 'kafkaController'],
  readyWithinMs: 90_000,
  // Writing the class archive at the first clean shutdown takes some seconds.
  stopWithinMs: 30_000,
  missing: () => missingForJava('kafka', (major) => major >= 17, 'Java 17 or newer'),
  install: () => jarsOf('kafka'),

  async prepare({ folder, ports, options, installed }) {
    mkdirSync(folder, { recursive: true });
    const settings = brokerSettings({ folder, ports, ...options });
    writeFileSync(
      properties(folder),
      Object.entries(settings)
        .map(([key, value]) => `${key}=${value}\n`)
        .join(''),
    );
    await run('java', [
      '-Xmx128m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      '-cp',
      path.join(installed, '*'),
      'kafka.tools.StorageTool',
      'format',
      '-t',
      ownClusterId(folder) ?? newClusterId(),
      '-c',
      properties(folder),
      '--standalone',
      '--ignore-formatted',
    ]);
  },

  command: ({ folder, installed }) => ({
    file: 'java',
    args: [
      '-Xms64m',
      '-Xmx256m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      ...classArchiveFlags('kafka', folder),
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-cp',
      path.join(installed, '*'),
      'kafka.Kafka',
      properties(folder),
    ],
  }),
  stopped: ({ folder }) => keepClassArchive('kafka', folder),

  probe: (ports) => probeKafka(ports.kafka),
  address: (ports) => `127.0.0.1:${ports.kafka}`,
  environment: (ports) => ({ KAFKA_BROKERS: `127.0.0.1:${ports.kafka}` }),
};
