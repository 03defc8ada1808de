import { createServer } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { Failure } from '@conclave/contracts';
import { isLoopback } from '@conclave/service-gateway';

export const usualPort = 8080;
/** Ports tried after the usual one. */
const nextPorts = 100;

export interface Listening {
  /** Address without a path, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Whether other machines can reach it. */
  readonly open: boolean;
  /** Set when the usual port was taken and another one was chosen. */
  readonly insteadOf: number | null;
}

/**
 * Listens on `port`; without one, on 8080 or the next free port. Throws CONFIGURATION_INVALID when a chosen port is taken or not
 * allowed, or the address does not belong to this machine.
 */
export async function listen(app: INestApplication, host: string, port: number | undefined): Promise<Listening> {
  const chosen = port ?? (await firstFree(host));
  // Nest would log the raw error before it is explained here.
  if (port && !(await isFree(host, port))) throw taken(port);
  try {
    await app.listen(chosen, host);
  } catch (error) {
    throw explain(error, host, chosen);
  }
  const real = Number(new URL(await app.getUrl()).port);
  // Clients cannot call a wildcard address.
  const callable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${callable}:${real}`,
    open: !isLoopback(host),
    port: real,
    insteadOf: port === undefined && real !== usualPort ? usualPort : null,
  };
}

async function firstFree(host: string): Promise<number> {
  for (let port = usualPort; port < usualPort + nextPorts; port += 1) {
    if (await isFree(host, port)) return port;
  }
  throw new Failure('CONFIGURATION_INVALID', `No port from ${usualPort} to ${usualPort + nextPorts - 1} is free. Set PORT to a free one.`);
}

const isFree = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(explain(error, host, port));
    });
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });

const taken = (port: number, cause?: unknown): Failure =>
  new Failure(
    'CONFIGURATION_INVALID',
    `Port ${port} is taken. Set PORT to another one, unset it to take the next free one, or stop what listens there.`,
    { cause },
  );

function explain(error: unknown, host: string, port: number): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') return taken(port, error);
  if (code === 'EACCES')
    return new Failure('CONFIGURATION_INVALID', `This user may not listen on port ${port}. Set PORT to 1024 or more.`, { cause: error });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new Failure('CONFIGURATION_INVALID', `HOST ${host} is not an address of this machine.`, { cause: error });
  return error;
}
