import 'reflect-metadata';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { Module, type INestApplication, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listen, usualPort } from './listen.js';

@Module({})
class EmptyModule {}

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function app(logger: false | LoggerService = false): Promise<INestApplication> {
  const made = await NestFactory.create(EmptyModule, { logger, bodyParser: false });
  open.push(made);
  return made;
}

/** Occupies a port; one that is already in use is fine too. */
async function take(port: number): Promise<number> {
  const server: Server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(port));
    server.listen(port, '127.0.0.1', () => {
      open.push(server);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

describe('listening', () => {
  it('uses the next free port when none was chosen and the default one is taken, and says so', async () => {
    await take(usualPort);
    const listening = await listen(await app(), '127.0.0.1', undefined);
    expect(listening.port).toBeGreaterThan(usualPort);
    expect(listening.insteadOf).toBe(usualPort);
    expect((await fetch(listening.url)).status).toBe(404);
  });

  it('refuses a chosen port that is taken, with a sentence that says what to do', async () => {
    const port = await take(0);
    const said: unknown[] = [];
    const error = (message: unknown) => void said.push(message);
    const logger = { log: () => undefined, warn: () => undefined, error };
    await expect(listen(await app(logger), '127.0.0.1', port)).rejects.toMatchObject({
      code: 'CONFIGURATION_INVALID',
      message: expect.stringContaining(`Port ${port} is taken. Set PORT to another one`) as unknown,
      // Nest did not try, so it has not logged the error of the operating system either.
      cause: undefined,
    });
    expect(said).toEqual([]);
  });

  it('uses any free port for 0', async () => {
    const { url, port, insteadOf } = await listen(await app(), '127.0.0.1', 0);
    expect(port).toBeGreaterThan(0);
    expect(insteadOf).toBeNull();
    expect(url).toBe(`http://127.0.0.1:${port}`);
  });

  it('refuses an address of another machine', async () => {
    await expect(listen(await app(), '203.0.113.7', undefined)).rejects.toThrow('HOST 203.0.113.7 is not an address of this machine');
  });
});
