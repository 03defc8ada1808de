import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '@conclave/ports';
import { Environment } from '@conclave/contracts';
import { outliveReaders } from '@conclave/platform';
import { isLoopback } from '@conclave/service-gateway';
import { noteGateway } from './commands/running-gateway.js';
import { usualPort } from './listen.js';
import { adminKeyFile } from './own-doors.js';

const services = ['merger', 'planner', 'experts', 'graph-ingest', 'gateway'] as const;
type ServiceName = (typeof services)[number];

/** Built programs are siblings in a folder below the workspace root. */
const beside = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const readyWithinMs = 120_000;
const stopWithinMs = 20_000;

interface Child {
  readonly service: ServiceName;
  readonly process: ChildProcess;
  readonly adminPort: number;
  readonly ended: Promise<string>;
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });

/** Addresses of the stores from the environment, else those of `npm run stack -- up`. Null when neither names Kafka. */
function storeAddresses(): Record<string, string> | null {
  if (process.env.KAFKA_BROKERS ?? process.env.CONCLAVE_CONFIG) return {};
  const file = beside('../deploy/.stack/env.json');
  if (!existsSync(file)) return null;
  const { SEARXNG_URL: search, ...stores } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  // The example questions of the documentation need the sample documents, which a web search would replace.
  if (search && !process.env.SEARXNG_URL)
    process.stdout.write(`The sample documents are searched. For the web, set SEARXNG_URL=${search}\n`);
  return stores.KAFKA_BROKERS ? stores : null;
}

async function gatewayPort(): Promise<number> {
  if (process.env.PORT) return Number(process.env.PORT);
  for (let port = usualPort; port < usualPort + 100; port += 1) if (await isFree(port)) return port;
  throw new Error('No port from 8080 to 8179 is free. Set PORT.');
}

function start(service: ServiceName, adminPort: number, extra: Record<string, string>): Child {
  const child = spawn(process.execPath, [beside(`./${service}.js`)], {
    env: { LOG_LEVEL: 'warn', ...extra, ...process.env, ADMIN_PORT: String(adminPort), PORT: extra.PORT },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl+C reaches only this process, which passes it on in order.
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => process.stderr.write(`[${service}] ${line}\n`));
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `ended by ${signal}` : `ended with code ${code}`));
  });
  return { service, process: child, adminPort, ended };
}

async function untilReady({ service, adminPort, ended }: Child): Promise<void> {
  let over: string | null = null;
  void ended.then((how) => (over = how));
  const end = performance.now() + readyWithinMs;
  let last = 'it did not answer';
  while (performance.now() < end) {
    if (over) throw new Error(`${service} ${String(over)} before it was ready.`);
    try {
      const response = await fetch(`http://127.0.0.1:${adminPort}/health/ready`, { signal: AbortSignal.timeout(3_000) });
      if (response.ok) return;
      last = await response.text();
    } catch {
      // Not listening yet.
    }
    await delay(200);
  }
  throw new Error(`${service} was not ready within ${readyWithinMs / 1000} s: ${last}`);
}

async function stop(children: readonly Child[]): Promise<void> {
  for (const { process: child } of children) child.kill('SIGTERM');
  const late = delay(stopWithinMs, 'late' as const, { ref: false });
  if ((await Promise.race([Promise.all(children.map(({ ended }) => ended)), late])) === 'late') {
    for (const { process: child, service } of children) {
      if (child.exitCode === null && child.signalCode === null) {
        process.stderr.write(`${service} did not stop within ${stopWithinMs / 1000} s and was killed.\n`);
        child.kill('SIGKILL');
      }
    }
  }
}

async function main(): Promise<void> {
  const stores = storeAddresses();
  if (!stores) {
    process.stderr.write(
      'No Kafka address is set. Start the servers with `npm run stack -- up`, or set KAFKA_BROKERS and REDIS_URL (or CONCLAVE_CONFIG).\n',
    );
    process.exit(1);
  }
  const port = await gatewayPort();
  const { HOST: host = '127.0.0.1', CONCLAVE_HOME: folder = Environment.shape.CONCLAVE_HOME.parse(undefined) } = process.env;
  const home = resolve(folder);
  // With access from other machines, keys must be configured; otherwise the gateway refuses to start.
  const admin: Record<string, string> = isLoopback(host) ? { CONCLAVE_ADMIN_KEY_FILE: adminKeyFile(home) } : {};
  const children: Child[] = [];
  let stopping: Promise<void> | null = null;
  let forget = (): void => undefined;
  const stopAll = (): Promise<void> => {
    forget();
    return (stopping ??= stop(children));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(130);
      process.stdout.write('\nStopping ...\n');
      void stopAll().then(() => process.exit(0));
    });
  }
  for (const service of services)
    children.push(start(service, await freePort(), { ...stores, ...(service === 'gateway' ? admin : {}), PORT: String(port) }));
  for (const { service, ended } of children) {
    void ended.then((how) => {
      if (stopping) return;
      process.stderr.write(`${service} ${how}; stopping the others.\n`);
      void stopAll().then(() => process.exit(1));
    });
  }
  try {
    await Promise.all(children.map(untilReady));
  } catch (error) {
    if (stopping) return;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    await stopAll();
    process.exit(1);
  }
  const address = `http://${host}:${port}`;
  makeFolder(home);
  forget = noteGateway(home, address);
  process.stdout.write(
    [
      `Conclave is ready at ${address}, as ${children.length} processes over ${stores.KAFKA_BROKERS ?? process.env.KAFKA_BROKERS ?? 'the stores of CONCLAVE_CONFIG'}`,
      '',
      ...children.map(
        ({ service, adminPort, process: child }) =>
          `  ${service.padEnd(13)} pid ${String(child.pid).padEnd(8)} http://127.0.0.1:${adminPort}/metrics`,
      ),
      '',
      ...(isLoopback(host) ? [`Admin key:  ${adminKeyFile(home)}`] : []),
      `Ask it:  CONCLAVE_URL=${address} npm run ask -- "question"`,
      'Stop with Ctrl+C.',
      '',
    ].join('\n'),
  );
}

outliveReaders();
await main();
