import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '@conclave/test-support/system';
import { jarsOf } from '../stack/java.mjs';
import { run, signalProcess, startProcess, stopProcess, waitForExit, type ProcessIdentity } from '../stack/processes.mjs';
import { cacheFolder } from '../stack/settings.mjs';
import { kafkaSettings, versions } from '../stack/versions.mjs';

const java = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'];

/** A SCRAM user with its own certificate. */
export interface KafkaUser {
  readonly user: string;
  readonly password: string;
  /** PEM files. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** Brokers on the loopback that accept only TLS, and authenticate their clients by certificate and by SCRAM-SHA-512. */
export interface SecuredCluster {
  readonly brokers: readonly string[];
  readonly caFile: string;
  /** Has no rights at all until some are granted. */
  readonly service: KafkaUser;
  /** A user without any rights. */
  readonly stranger: KafkaUser;
  /** Settings file of the operator, who may do everything, for `--command-config`. */
  readonly operatorConfig: string;
  /** Folder with Kafka's shell commands, for PATH. */
  readonly commands: string;
  kill(broker: number): Promise<void>;
  start(broker: number): Promise<void>;
  dispose(): Promise<void>;
}

export async function startSecuredCluster(size = 3): Promise<SecuredCluster> {
  const folder = mkdtempSync(path.join(tmpdir(), 'conclave-brokers-'));
  const libs = await jarsOf('kafka');
  const certificates = authority(folder);
  const inside = certificates.issue('broker');
  const userOf = (user: string): KafkaUser => ({ user, password: randomBytes(16).toString('hex'), ...certificates.issue(user) });
  const [service, operator, stranger] = [userOf('conclave'), userOf('operator'), userOf('stranger')];
  const ports = await freePorts(size * 3);
  const [clients, internal, controllers] = [0, 1, 2].map((part) => ports.slice(part * size, (part + 1) * size)) as [
    number[],
    number[],
    number[],
  ];
  const clusterId = `A${randomBytes(16).toString('base64url').slice(1)}`;
  const processes: ProcessIdentity[] = [];
  const home = (n: number): string => path.join(folder, `broker-${n + 1}`);

  const settings = (n: number): Readonly<Record<string, string>> => ({
    ...kafkaSettings,
    // The default values of brokers: with those of a single broker, three would consider each other dead on a busy machine.
    'broker.session.timeout.ms': '9000',
    'broker.heartbeat.interval.ms': '2000',
    'process.roles': 'broker,controller',
    'node.id': String(n + 1),
    'controller.quorum.voters': controllers.map((port, at) => `${at + 1}@127.0.0.1:${port}`).join(','),
    'controller.listener.names': 'CONTROLLER',
    listeners: `CLIENTS://127.0.0.1:${clients[n]},INTERNAL://127.0.0.1:${internal[n]},CONTROLLER://127.0.0.1:${controllers[n]}`,
    'advertised.listeners': `CLIENTS://127.0.0.1:${clients[n]},INTERNAL://127.0.0.1:${internal[n]}`,
    'listener.security.protocol.map': 'CLIENTS:SASL_SSL,INTERNAL:SSL,CONTROLLER:SSL',
    'inter.broker.listener.name': 'INTERNAL',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'listener.name.clients.scram-sha-512.sasl.jaas.config': 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'ssl.client.auth': 'required',
    // A listener with SASL requires certificates only if that is set for this listener.
    'listener.name.clients.ssl.client.auth': 'required',
    ...tlsOf(certificates.caFile, inside),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:CN=broker;User:operator',
    'allow.everyone.if.no.acl.found': 'false',
    'log.dirs': path.join(home(n), 'logs'),
    'default.replication.factor': String(size),
    'min.insync.replicas': '2',
    'offsets.topic.replication.factor': String(size),
    'transaction.state.log.replication.factor': String(size),
    'transaction.state.log.min.isr': '2',
    'share.coordinator.state.topic.replication.factor': String(size),
    'share.coordinator.state.topic.min.isr': '2',
  });

  const start = async (n: number): Promise<void> => {
    const args = ['-Xms64m', '-Xmx256m', ...java, '-cp', path.join(libs, '*'), 'kafka.Kafka', path.join(home(n), 'server.properties')];
    processes[n] = await startProcess({ file: 'java', args }, path.join(home(n), 'broker.log'), 'ours');
  };
  const dispose = async (): Promise<void> => {
    await Promise.all(processes.map((one) => stopProcess(one, 5_000)));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let n = 0; n < size; n += 1) {
      mkdirSync(home(n), { recursive: true });
      writeFileSync(path.join(home(n), 'server.properties'), propertiesOf(settings(n)));
      const users = [service, operator, stranger].flatMap(({ user, password }) => [
        '--add-scram',
        `SCRAM-SHA-512=[name=${user},password=${password}]`,
      ]);
      const format = ['-cp', path.join(libs, '*'), 'kafka.tools.StorageTool', 'format', '-t', clusterId];
      await run('java', [...java, ...format, '-c', path.join(home(n), 'server.properties'), ...users]);
      await start(n);
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  const operatorConfig = path.join(folder, 'operator.properties');
  writeFileSync(
    operatorConfig,
    propertiesOf({
      'security.protocol': 'SASL_SSL',
      'request.timeout.ms': '60000',
      'default.api.timeout.ms': '120000',
      'sasl.mechanism': 'SCRAM-SHA-512',
      'sasl.jaas.config': `org.apache.kafka.common.security.scram.ScramLoginModule required username="${operator.user}" password="${operator.password}";`,
      ...tlsOf(certificates.caFile, operator),
    }),
  );
  return {
    brokers: clients.map((port) => `127.0.0.1:${port}`),
    caFile: certificates.caFile,
    service,
    stranger,
    operatorConfig,
    commands: await shellCommands(folder, libs),
    kill: async (n) => {
      signalProcess(processes[n]!, 'SIGKILL');
      await waitForExit(processes[n]!, 10_000);
    },
    start,
    dispose,
  };
}

const propertiesOf = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** Key and certificate in one file, as Kafka reads them. */
  readonly bothFile: string;
}

const tlsOf = (caFile: string, own: Pick<Certificate, 'certFile'>): Readonly<Record<string, string>> => ({
  'ssl.truststore.type': 'PEM',
  'ssl.truststore.location': caFile,
  'ssl.keystore.type': 'PEM',
  'ssl.keystore.location': own.certFile.replace(/\.crt$/, '.pem'),
});

/** An authority of the tests, and certificates that it signs for this machine's loopback address. */
function authority(folder: string): { readonly caFile: string; issue(name: string): Certificate } {
  const file = (name: string): string => path.join(folder, name);
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...curve, '-keyout', file('ca.key'), '-out', file('ca.crt'), '-subj', '/CN=authority', '-days', '2');
  writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost');
  return {
    caFile: file('ca.crt'),
    issue(name) {
      const certificate = { certFile: file(`${name}.crt`), keyFile: file(`${name}.key`), bothFile: file(`${name}.pem`) };
      openssl('req', '-new', ...curve, '-keyout', certificate.keyFile, '-out', file(`${name}.csr`), '-subj', `/CN=${name}`);
      const signed = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', file('names')];
      openssl('x509', '-req', '-in', file(`${name}.csr`), ...signed, '-out', certificate.certFile);
      const text = execFileSync('cat', [certificate.keyFile, certificate.certFile], { encoding: 'utf8' });
      writeFileSync(certificate.bothFile, text, { mode: 0o600 });
      return certificate;
    },
  };
}

/** Kafka's own commands: their classes are in a jar that a broker does not need. */
async function shellCommands(folder: string, libs: string): Promise<string> {
  const jar = path.join(cacheFolder, `kafka-tools-${versions.kafka}.jar`);
  if (!existsSync(jar)) {
    const artifact = `-Dartifact=org.apache.kafka:kafka-tools:${versions.kafka}`;
    await run('mvn', ['-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${folder}`]);
    renameSync(path.join(folder, path.basename(jar)), jar);
  }
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  const classes = {
    topics: 'org.apache.kafka.tools.TopicCommand',
    configs: 'kafka.admin.ConfigCommand',
    acls: 'org.apache.kafka.tools.AclCommand',
  };
  for (const [name, main] of Object.entries(classes)) {
    const script = path.join(bin, `kafka-${name}.sh`);
    writeFileSync(script, `#!/bin/sh\nexec java -Xmx128m ${java.join(' ')} -cp '${libs}/*:${jar}' ${main} "$@"\n`);
    chmodSync(script, 0o755);
  }
  return bin;
}
