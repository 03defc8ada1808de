import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { connectionHeader, fullConnections, withoutBackpressure } from './full-connections.js';
import type { HistoryLine } from '@conclave/platform';

const opened: (Server | Socket)[] = [];
afterEach(() => {
  for (const one of opened.splice(0))
    if ('destroy' in one) one.destroy();
    else one.close();
});

const piece = 'x'.repeat(1_000);

/** What the writes of a response returned, and the history once its client has left. */
async function written(
  header: string,
  unprotected: boolean,
): Promise<{ readonly taken: readonly boolean[]; readonly lines: HistoryLine[] }> {
  const lines: HistoryLine[] = [];
  const taken: boolean[] = [];
  const hook = fullConnections((line) => void lines.push(line));
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const write = (): void => {
      for (let n = 0; n < 100; n++) taken.push(response.write(piece));
    };
    hook(request, response, () => (unprotected ? withoutBackpressure(request, response, write) : write()));
  });
  opened.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  opened.push(client);
  client.write(`GET /v1/runs/run_1/events HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
  await until('the writes', () => taken.length === 100);
  client.destroy();
  if (header !== '') await until('the line', () => lines.length > 0);
  return { taken, lines };
}

describe('a connection that takes nothing', () => {
  const header = `${connectionHeader}: full\r\n`;

  it('tells the gateway that its client is behind, and the history what was kept for it', async () => {
    const { taken, lines } = await written(header, false);
    expect(taken.at(-1)).toBe(false);
    expect(lines).toMatchObject([{ op: 'full-connection', phase: 'closed', id: '/v1/runs/run_1/events' }]);
    expect((lines[0]!.data as { kept: number }).kept).toBeGreaterThan(100 * piece.length);
  });

  it('looks like any other without the protection', async () => {
    expect((await written(header, true)).taken).toEqual(Array(100).fill(true));
  });

  it('is only the one that asks for it', async () => {
    expect((await written('', false)).lines).toEqual([]);
  });
});
