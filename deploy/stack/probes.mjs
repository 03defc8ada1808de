import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Readiness probes. Each sends a request of the server's own protocol and rejects with a sentence unless the answer is
 * right. An open port proves nothing: a starting broker accepts connections long before it answers.
 */

const host = '127.0.0.1';

/** Sends bytes; resolves to the result of `complete` for the answer so far (undefined: read on). */
function ask(port, request, complete, withinMs = 2_000) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port });
    let received = Buffer.alloc(0);
    const finish = (settle, value) => {
      socket.destroy();
      settle(value);
    };
    socket.setTimeout(withinMs, () => finish(reject, new Error(`no answer on port ${port} within ${withinMs} ms`)));
    socket.on('error', (error) => finish(reject, error));
    socket.on('close', () => reject(new Error(`port ${port} closed the connection without an answer`)));
    socket.on('connect', () => socket.write(request));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      try {
        const answer = complete(received);
        if (answer !== undefined) finish(resolve, answer);
      } catch (error) {
        finish(reject, error);
      }
    });
  });
}

/** One Kafka request with header v1: api key, api version, correlation id, client id. Length first. */
function kafkaRequest(apiKey, apiVersion, body) {
  const client = Buffer.from('conclave-stack');
  const header = Buffer.alloc(10);
  header.writeInt16BE(apiKey, 0);
  header.writeInt16BE(apiVersion, 2);
  header.writeInt32BE(apiKey, 4);
  header.writeInt16BE(client.length, 8);
  const length = Buffer.alloc(4);
  length.writeInt32BE(header.length + client.length + body.length);
  return Buffer.concat([length, header, client, body]);
}

/** Body of one complete Kafka response (after length and correlation id), or undefined. */
function kafkaResponse(received) {
  if (received.length < 8 || received.length < 4 + received.readInt32BE(0)) return undefined;
  return received.subarray(8);
}

/** ApiVersions v0 without an error code, then Metadata v1 with at least one live broker. Resolves to the number of brokers. */
export async function probeKafka(port) {
  await ask(port, kafkaRequest(18, 0, Buffer.alloc(0)), (received) => {
    const body = kafkaResponse(received);
    if (body === undefined) return undefined;
    if (body.readInt16BE(0) !== 0) throw new Error(`the broker answered ApiVersions with error ${body.readInt16BE(0)}`);
    return true;
  });
  const noTopics = Buffer.alloc(4);
  return ask(port, kafkaRequest(3, 1, noTopics), (received) => {
    const body = kafkaResponse(received);
    if (body === undefined) return undefined;
    if (body.readInt32BE(0) < 1) throw new Error('the broker knows no live broker yet');
    return body.readInt32BE(0);
  });
}

/** Expects +PONG to PING; a Redis that is still loading its log answers -LOADING. */
export function probeRedis(port) {
  return ask(port, 'PING\r\n', (received) => {
    const line = received.toString('latin1');
    if (!line.includes('\r\n')) return undefined;
    if (!line.startsWith('+PONG')) throw new Error(`Redis answered ${line.trim()}`);
    return true;
  });
}

/** Bolt handshake: magic number and four version offers (5.8 down to 5.0, then 4.4). Resolves to the version agreed on. */
export function probeNeo4j(port) {
  const offer = Buffer.from([0x60, 0x60, 0xb0, 0x17, 0, 8, 8, 5, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
  return ask(port, offer, (received) => {
    if (received.length < 4) return undefined;
    if (received.readInt32BE(0) === 0) throw new Error('the server speaks no Bolt version we know');
    return `${received[3]}.${received[2]}`;
  });
}

/** HTTP GET with status 200. Resolves to the body. */
export async function probeHttp(port, path) {
  const response = await fetch(`http://${host}:${port}${path}`, { signal: AbortSignal.timeout(2_000) });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}`);
  return body;
}

/**
 * Repeats a probe until it resolves. Rejects with the probe's last error after `withinMs`, or at once when `ended`
 * resolves (the server's process is gone).
 */
export async function waitUntilAnswers(probe, { withinMs, ended = new Promise(() => undefined), everyMs = 100 }) {
  const end = Date.now() + withinMs;
  let gone;
  void ended.then((how) => (gone = how));
  for (;;) {
    try {
      return await probe();
    } catch (error) {
      if (gone !== undefined) throw new Error(`it ended before it answered (${gone})`, { cause: error });
      if (Date.now() > end) throw new Error(`no right answer within ${withinMs / 1000} s: ${error.message}`, { cause: error });
    }
    await pause(everyMs);
  }
}

/** True when nothing listens on this loopback port. */
export function isPortFree(port) {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Free ports below the range of outgoing connections (from 32768 on Linux, 49152 elsewhere), so that a restarted
 * server finds its port free.
 */
export async function freePorts(count) {
  const found = new Set();
  for (let attempt = 0; attempt < 500 && found.size < count; attempt += 1) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (!found.has(port) && (await isPortFree(port))) found.add(port);
  }
  if (found.size < count) throw new Error('No free port between 20000 and 32000 was found in 500 attempts.');
  return [...found];
}
