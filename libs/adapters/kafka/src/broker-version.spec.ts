import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { brokerVersion, versionSentence } from './broker-version.js';

/** Produce 0 to 13 and Fetch 4 to 17, then the features. */
const reply = (features: readonly number[], error = 0): Buffer => {
  const keys = [3, 0, 0, 0, 0, 0, 13, 0, 0, 1, 0, 4, 0, 17, 0];
  const body = Buffer.from([0, 0, 0, 1, 0, error, ...keys, 0, 0, 0, 0, ...features]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
};
const name = [...Buffer.from('metadata.version')];
/** An epoch, and `metadata.version` at this level. */
const at = (level: number) => [2, 1, 8, 0, 0, 0, 0, 0, 0, 0, 9, 2, 23, 2, 17, ...name, 0, level, 0, level, 0];

describe('the version of a broker', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });
  const asked = async (answer: Buffer | null) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => (answer ? void [...answer].forEach((byte) => socket.write(Buffer.from([byte]))) : socket.destroy()));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return brokerVersion({ brokers: [`127.0.0.1:${(server.address() as AddressInfo).port}`], clientId: 'spec' });
  };

  it.each([
    [25, /metadata\.version is 25: the brokers are of Kafka 4\.0 or newer/],
    [21, /Kafka 3\.9 or newer/],
    [40, /newer than Kafka 4\.1/],
  ])('is the one that its cluster has agreed on: %d', async (level, says) => {
    const version = await asked(reply(at(level)));
    expect(version.metadataLevel).toBe(level);
    expect(versionSentence(version)).toMatch(says);
  });

  it('is not guessed when the cluster reports none', async () => {
    expect(versionSentence(await asked(reply([0])))).toMatch(
      /does not tell its version.*Produce requests up to version 13 .*Fetch requests up to 17/,
    );
  });

  it.each([
    ['a broker that is too old', reply([0], 35), /older than Kafka 2\.4/],
    ['one that hangs up', null, /closed the connection/],
    ['a server of another kind', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /no Kafka broker/],
    ['a reply that is cut', Buffer.from([0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 200, 1]), /No broker says/],
  ])('cannot be read from %s', async (_what, answer, says) => {
    await expect(asked(answer)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE', message: expect.stringMatching(says) as never });
  });
});
