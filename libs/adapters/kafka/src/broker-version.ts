import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Failure } from '@conclave/contracts';
import type { KafkaConnectionOptions } from './options.js';

/**
 * No broker reports the version of its program. Before a client signs in, it reports the requests it understands, and the features that its
 * cluster has agreed on, of which `metadata.version` rises with the releases. kafkajs requests neither.
 */
export interface BrokerVersion {
  /** `metadata.version` on which the cluster has agreed; null if it reports none, such as with ZooKeeper. */
  readonly metadataLevel: number | null;
  /** Highest version of each request, by its key. */
  readonly requests: ReadonlyMap<number, number>;
}

const apiVersions = { key: 18, version: 3 };
const unsupportedVersion = 35;
const withinMs = 5_000;
const mostBytes = 1024 * 1024;

/** First `metadata.version` of each release, for the releases known here. */
const releases: readonly (readonly [level: number, release: string])[] = [
  ...([[1, '3.0'] as const, [2, '3.1'], [3, '3.2'], [4, '3.3'], [8, '3.4'], [9, '3.5'], [12, '3.6']] as const),
  ...([[15, '3.7'] as const, [20, '3.8'], [21, '3.9'], [22, '4.0'], [26, '4.1']] as const),
];
/** Highest level of the newest release. */
const newestLevel = 27;

/** The findings about the version, in a sentence. */
export function versionSentence({ metadataLevel: level, requests }: BrokerVersion): string {
  if (level === null)
    return `The broker does not tell its version, and its cluster has agreed on no metadata.version; it takes Produce requests up to version ${requests.get(0) ?? '?'} and Fetch requests up to ${requests.get(1) ?? '?'}.`;
  if (level > newestLevel) return `Its metadata.version is ${level}: the brokers are newer than Kafka ${releases.at(-1)![1]}.`;
  const release = releases.findLast(([first]) => first <= level)?.[1] ?? releases[0]![1];
  return `Its metadata.version is ${level}: the brokers are of Kafka ${release} or newer. The exact version no broker tells.`;
}

/** Asks the first broker that answers. Throws Failure LOG_UNAVAILABLE. */
export async function brokerVersion(options: KafkaConnectionOptions): Promise<BrokerVersion> {
  let last: unknown;
  for (const broker of options.brokers)
    try {
      return readVersion(await answerOf(broker, options));
    } catch (error) {
      last = error;
    }
  throw new Failure('LOG_UNAVAILABLE', `No broker says which versions it speaks: ${last instanceof Error ? last.message : String(last)}`, {
    cause: last,
  });
}

/** Body of the reply, without its length and its correlation id. */
function answerOf(broker: string, { ssl, clientId }: KafkaConnectionOptions): Promise<Buffer> {
  const colon = broker.lastIndexOf(':');
  const at = { host: broker.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(broker.slice(colon + 1)) };
  return new Promise((resolve, reject) => {
    const socket: Socket = ssl ? connectTls({ ...at, servername: at.host, ...(ssl === true ? {} : ssl) }) : connectPlain(at);
    const end = (error: Error | null, body?: Buffer): void => {
      socket.destroy();
      if (error) reject(error);
      else resolve(body!);
    };
    let received = Buffer.alloc(0);
    socket.setTimeout(withinMs, () => end(new Error(`${broker} has not answered for ${withinMs / 1_000} s.`)));
    socket.on('error', (error) => end(error));
    socket.on('close', () => end(new Error(`${broker} closed the connection.`)));
    socket.on('data', (more) => {
      received = Buffer.concat([received, more]);
      const length = received.length < 4 ? 0 : received.readInt32BE(0);
      if (length < 0 || length > mostBytes) end(new Error(`${broker} is no Kafka broker.`));
      else if (length >= 4 && received.length >= 4 + length) end(null, received.subarray(8, 4 + length));
    });
    socket.write(request(clientId));
  });
}

function request(clientId: string): Buffer {
  const client = Buffer.from(clientId);
  const head = Buffer.alloc(10);
  head.writeInt16BE(apiVersions.key, 0);
  head.writeInt16BE(apiVersions.version, 2);
  head.writeInt32BE(1, 4);
  head.writeInt16BE(client.length, 8);
  const compact = (text: string): Buffer => Buffer.concat([Buffer.from([text.length + 1]), Buffer.from(text)]);
  const noTags = Buffer.from([0]);
  const body = Buffer.concat([head, client, noTags, compact('conclave'), compact('1'), noTags]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** Throws RangeError for a reply that is cut. */
function readVersion(body: Buffer): BrokerVersion {
  const reader = new Reader(body);
  const error = reader.int16();
  if (error === unsupportedVersion) throw new Error('The broker is older than Kafka 2.4.');
  if (error !== 0) throw new Error(`The broker answers with error ${error}.`);
  const requests = new Map<number, number>();
  reader.list(() => {
    const key = reader.int16();
    reader.int16();
    requests.set(key, reader.int16());
    reader.tags();
  });
  reader.skip(4);
  let metadataLevel: number | null = null;
  reader.tags((tag, value) => {
    if (tag !== finalizedFeatures) return;
    value.list(() => {
      const name = value.text();
      const level = value.int16();
      value.int16();
      value.tags();
      if (name === 'metadata.version') metadataLevel = level;
    });
  });
  return { metadataLevel, requests };
}
const finalizedFeatures = 2;

/** Kafka's compact encodings. */
class Reader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  int16(): number {
    const value = this.bytes.readInt16BE(this.at);
    this.at += 2;
    return value;
  }
  skip(count: number): void {
    this.at += count;
  }
  list(each: () => void): void {
    for (let left = this.varint() - 1; left > 0; left -= 1) each();
  }
  text(): string {
    return this.take(this.varint() - 1).toString('utf8');
  }
  tags(each?: (tag: number, value: Reader) => void): void {
    for (let left = this.varint(); left > 0; left -= 1) {
      const tag = this.varint();
      const value = this.take(this.varint());
      each?.(tag, new Reader(value));
    }
  }
  private take(count: number): Buffer {
    if (count < 0 || this.at + count > this.bytes.length) throw new RangeError('The reply is cut.');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
  private varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes.readUInt8(this.at);
      this.at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new RangeError('The reply is cut.');
  }
}
