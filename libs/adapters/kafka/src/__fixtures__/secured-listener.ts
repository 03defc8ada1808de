import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '@conclave/test-support/real-servers';

/** Settings for a second broker listener that requires TLS, a user and a password. */
export interface SecuredListener {
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  /** PEM; self-signed. */
  readonly certificate: string;
  readonly user: string;
  readonly password: string;
  dispose(): void;
}

export async function securedListener(): Promise<SecuredListener> {
  const folder = mkdtempSync(path.join(tmpdir(), 'conclave-kafka-tls-'));
  const store = path.join(folder, 'broker.p12');
  const [user, password, storePassword] = ['conclave', randomBytes(12).toString('hex'), randomBytes(12).toString('hex')];
  const common = ['-alias', 'broker', '-keystore', store, '-storetype', 'PKCS12', '-storepass', storePassword];
  keytool([
    '-genkeypair',
    ...common,
    '-keyalg',
    'EC',
    '-validity',
    '2',
    '-dname',
    'CN=localhost',
    '-ext',
    'SAN=IP:127.0.0.1,DNS:localhost',
  ]);
  const certificate = keytool(['-exportcert', '-rfc', ...common]);
  const [port] = await freePorts(1);
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${user}="${password}";`;
  return {
    port: port!,
    certificate,
    user,
    password,
    settings: {
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:SASL_SSL',
      'listener.name.proxied.sasl.enabled.mechanisms': 'PLAIN',
      'listener.name.proxied.plain.sasl.jaas.config': login,
      'listener.name.proxied.ssl.keystore.location': store,
      'listener.name.proxied.ssl.keystore.password': storePassword,
      'listener.name.proxied.ssl.keystore.type': 'PKCS12',
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function keytool(parameters: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('keytool', parameters, { encoding: 'utf8', timeout: 60_000 });
  if (status !== 0) throw new Error(`keytool failed: ${stdout}${stderr}`);
  return stdout;
}
