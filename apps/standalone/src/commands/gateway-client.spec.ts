import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayClient } from './gateway-client.js';

const servers: Server[] = [];
/** Headers of the requests that came to the second address. */
const arrived: IncomingHttpHeaders[] = [];
let url: string;

const listening = async (server: Server): Promise<string> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
beforeAll(async () => {
  const other = await listening(createServer(({ headers }, response) => (arrived.push(headers), response.end('{}'))));
  url = await listening(createServer((request, response) => response.writeHead(307, { location: `${other}${request.url}` }).end()));
});
afterAll(() => Promise.all(servers.map((server) => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))))));

describe('the command line', () => {
  it('sends its key and a question to no address to which a gateway redirects', async () => {
    const client = new GatewayClient(url, 'sk-of-the-command-line');
    await expect(client.start('conclave', 'Why?', true)).rejects.toThrow('redirects to another address');
    await expect(client.list()).rejects.toThrow('CONCLAVE_URL');
    const events = async () => {
      for await (const _ of client.events('run_00000001')) break;
    };
    await expect(events()).rejects.toThrow('redirects to another address');
    expect(arrived).toEqual([]);
  });
});
