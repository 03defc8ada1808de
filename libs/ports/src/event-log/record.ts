import { createHash } from 'node:crypto';
import { checkData, Failure, RunErased, services, specOf, StepRecorded, type Event, type Service } from '@conclave/contracts';
import { blobThresholdBytes, type BlobRef, type Blobs } from '../blobs/blobs.js';

export interface StoredRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly appendedAt: number;
  /** Null if the writer set none. */
  readonly key?: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: Buffer;
  readonly event: Event | null;
}

export type DeadReason = 'undecodable' | 'failed' | 'killed_process';

/** Headers of a record on the topic `dead`, beside the original ones; the value is the raw bytes. */
export interface DeadHeaders {
  readonly 'dead-topic': string;
  readonly 'dead-partition': string;
  readonly 'dead-offset': string;
  readonly 'dead-group': string;
  readonly 'dead-reason': string;
  readonly 'dead-attempts': string;
  readonly 'dead-time': string;
  /** The last error, truncated. */
  readonly 'dead-error'?: string;
}

/** Headers of a record re-driven from a dead letter: every group except the named one skips it. */
export interface RedriveHeaders {
  readonly 'redrive-group': string;
  /** Id of the letter, as `<partition>-<offset>`. */
  readonly 'redrive-letter': string;
}

/** Header values are text on every adapter; Kafka stores their UTF-8 bytes. */
export type Headers = Readonly<Record<string, string>>;

/** An event as it is written to the log. */
export interface EncodedRecord {
  /** Topic without prefix. */
  readonly topic: string;
  readonly key: string;
  readonly headers: Headers;
  readonly raw: Buffer;
}

/** A record read from the log; nothing about it is verified. */
export interface RawRecord {
  /** Topic without prefix. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  /** When the log accepted it, in milliseconds since 1970. */
  readonly appendedAt: number;
  /** Null if the writer set none; such a record has no order relative to others. */
  readonly key: string | null;
  readonly headers: Headers;
  /** Null means a record without a value, which is never an event. */
  readonly raw: Buffer | null;
  /**
   * The record was appended after this process took over its partition or file, so no other process can have begun it: the ledger only
   * learns of it when it fails. Absent if unknown.
   */
  readonly fresh?: boolean;
  /** The decoded event, if this process wrote the record: skips decoding and validation. */
  readonly event?: Event;
}

/** Opens sealed bodies. */
export interface SealOpener {
  /** The body of a sealed record. Throws EVENT_ERASED, SEAL_KEY_MISSING, EVENT_UNDECODABLE for one that was changed. */
  open(record: Pick<RawRecord, 'headers'>, body: Buffer): Promise<Buffer>;
}

/** A record to append unchanged. */
export type OutgoingRecord = Pick<RawRecord, 'topic' | 'key' | 'headers' | 'raw'>;

/** A record for the topic `dead`. */
export interface DeadRecord {
  readonly key: string | null;
  readonly headers: Headers;
  readonly raw: Buffer | null;
}

/** `topic/partition/offset`: the record's name in the delivery ledger. */
export const recordName = ({ topic, partition, offset }: Pick<RawRecord, 'topic' | 'partition' | 'offset'>): string =>
  `${topic}/${partition}/${offset}`;

/**
 * CloudEvents 1.0 in binary mode: attributes are headers, the body is the JSON of `data`. A body above 64 KB goes to the blobs; the record
 * then holds its reference, marked by the header `ce_dataref`. Throws Failure EVENT_UNDECODABLE when the data cannot be written as JSON,
 * and the failures of `blobs.put`.
 */
export async function encodeEvent(event: Event, blobs: Blobs): Promise<EncodedRecord> {
  const body = jsonOf(event);
  return recordOf(event, body, isLarge(body) ? await blobs.put(body) : null);
}

/** Synchronous version, for a log that shares its file with the blobs. */
export function encodeEventNow(event: Event, putBlob: (body: Buffer) => BlobRef): EncodedRecord {
  const body = jsonOf(event);
  return recordOf(event, body, isLarge(body) ? putBlob(body) : null);
}

const isLarge = (body: Buffer): boolean => body.byteLength > blobThresholdBytes;

const recordOf = (event: Event, body: Buffer, reference: BlobRef | null): EncodedRecord => ({
  topic: event.topic,
  key: event.key,
  headers: {
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: event.type,
    ce_source: event.source,
    ce_time: new Date(event.time).toISOString(),
    ce_partitionkey: event.key,
    ce_runid: event.runId,
    'content-type': 'application/json',
    ...(event.traceparent ? { traceparent: event.traceparent } : {}),
    ...(reference ? { ce_dataref: `sha256:${reference.sha256}` } : {}),
  },
  raw: reference ? Buffer.from(JSON.stringify(reference)) : body,
});

/**
 * Header of a record whose body was erased: the time of the erasure, or `sealed` if the key of the run was destroyed. The record may still
 * contain data other than its content, such as hashes.
 */
export const erasedHeader = 'ce_erased';
/** Header of a record with a sealed body, its own or a stored one. Its value is the name of the cipher. */
export const sealedHeader = 'ce_sealed';
export const isErased = ({ headers }: Pick<RawRecord, 'headers'>): boolean => headers[erasedHeader] !== undefined;

/**
 * The record without its content: a step keeps its hashes and the ids of its outputs, any other record the hash of its body. An erased
 * record, and the record of the erasure itself, is returned unchanged.
 */
export function erasedRecord<R extends Pick<RawRecord, 'headers' | 'raw'> & { readonly event?: Event }>(record: R, now: number): R {
  const { headers, raw } = record;
  if (isErased(record) || headers['ce_type'] === RunErased.type) return record;
  const { ce_dataref: _reference, [sealedHeader]: _cipher, ...kept } = headers;
  const { event: _event, ...rest } = record;
  return {
    ...rest,
    headers: { ...kept, [erasedHeader]: new Date(now).toISOString() },
    raw: remainsOf(headers['ce_type'], raw),
  } as unknown as R;
}

function remainsOf(type: string | undefined, raw: Buffer | null): Buffer | null {
  if (raw === null) return null;
  const sha256 = createHash('sha256').update(raw).digest('hex');
  if (type !== StepRecorded.type) return Buffer.from(JSON.stringify({ sha256 }));
  const { version, now, rule, outputs, hash, stateHash } = partsOf(raw);
  return Buffer.from(JSON.stringify({ sha256, version, now, rule, outputs, hash, stateHash }));
}

function partsOf(raw: Buffer): Partial<StepRecorded['data']> {
  try {
    return (JSON.parse(raw.toString('utf8')) ?? {}) as Partial<StepRecorded['data']>;
  } catch {
    return {};
  }
}

/**
 * Decodes a record. Drops fields that the current schema does not know. Throws Failure EVENT_UNDECODABLE, EVENT_ERASED, SEAL_KEY_MISSING,
 * and outages of the blobs.
 */
export async function decodeRecord(record: RawRecord, blobs: Blobs, seals: SealOpener | null = null): Promise<Event> {
  const { headers, raw } = record;
  if (isErased(record)) throw new Failure('EVENT_ERASED', `${recordName(record)}.`);
  if (raw === null) throw undecodable(record, 'it has no value');
  if (headers['ce_specversion'] !== '1.0') throw undecodable(record, 'ce_specversion is not 1.0');
  const type = required(record, 'ce_type');
  const spec = specOf(type);
  if (!spec) throw undecodable(record, `no event has the type "${type}"`);
  const source = required(record, 'ce_source');
  if (!isService(source)) throw undecodable(record, `no service is called "${source}"`);
  const time = Date.parse(required(record, 'ce_time'));
  if (Number.isNaN(time)) throw undecodable(record, 'ce_time is not a time');
  const data = checkData(
    spec,
    parseJson(record, await opened(record, headers['ce_dataref'] === undefined ? raw : await referenced(record, raw, blobs), seals)),
  );
  if (!data.success) {
    const faults = data.error.issues.map((issue) => `${issue.path.join('.') || 'data'}: ${issue.message}`);
    throw undecodable(record, `its data does not fit ${type} (${faults.join('; ')})`);
  }
  return {
    id: required(record, 'ce_id'),
    type,
    runId: required(record, 'ce_runid'),
    // A dead letter is decoded as an event of its original topic.
    topic: headers['dead-topic'] ?? record.topic,
    key: headers['ce_partitionkey'] ?? record.key ?? required(record, 'ce_partitionkey'),
    source,
    time,
    data: data.data,
    ...(headers['traceparent'] ? { traceparent: headers['traceparent'] } : {}),
  };
}

/** A record as `read` returns it: `event` is null if it cannot be decoded or its stored body is lost. Throws outages of the blobs. */
export async function storedRecord(record: RawRecord, blobs: Blobs, seals: SealOpener | null = null): Promise<StoredRecord> {
  const { topic, partition, offset, appendedAt, key, headers, raw } = record;
  const stored = { topic, partition, offset, appendedAt, key, headers, raw: raw ?? Buffer.alloc(0) };
  try {
    return { ...stored, event: await decodeRecord(record, blobs, seals) };
  } catch (error) {
    const code = error instanceof Failure ? error.code : null;
    if (code === 'EVENT_UNDECODABLE' || code === 'BLOB_MISSING') return { ...stored, event: null };
    if (code !== 'EVENT_ERASED') throw error;
    // Its key was destroyed: readers see it as a record whose body was erased.
    return { ...stored, headers: { [erasedHeader]: 'sealed', ...headers }, event: null };
  }
}

/** Reference of the stored body; null if the record contains its own body. */
export function bodyOf({ headers, raw }: Pick<StoredRecord, 'headers' | 'raw'>): BlobRef | null {
  if (headers['ce_dataref'] === undefined) return null;
  try {
    const reference: unknown = JSON.parse(raw.toString('utf8'));
    return isBlobRef(reference) ? reference : null;
  } catch {
    return null; // an invalid reference: the record will never be decodable
  }
}

/** Returns null for a record that is not an event, or was erased. Throws outages of the blobs. */
export async function decodeOrNull(record: RawRecord, blobs: Blobs, seals: SealOpener | null = null): Promise<Event | null> {
  try {
    return await decodeRecord(record, blobs, seals);
  } catch (error) {
    if (error instanceof Failure && (error.code === 'EVENT_UNDECODABLE' || error.code === 'EVENT_ERASED')) return null;
    throw error;
  }
}

/** Characters of an error kept in a letter: enough to recognise it. */
const errorLength = 300;

const errorText = (error: unknown): string =>
  (error instanceof Failure ? `${error.code}: ${error.detail ?? error.message}` : String(error)).slice(0, errorLength);

/** The same bytes and headers, plus the record's origin and the reason it is dead. `time` in milliseconds since 1970. */
export function deadRecord(
  record: RawRecord,
  death: { group: string; reason: DeadReason; attempts: number; time: number; error?: unknown },
): DeadRecord {
  const added: DeadHeaders = {
    'dead-topic': record.topic,
    'dead-partition': String(record.partition),
    'dead-offset': record.offset,
    'dead-group': death.group,
    'dead-reason': death.reason,
    'dead-attempts': String(death.attempts),
    'dead-time': new Date(death.time).toISOString(),
    ...(death.error === undefined || death.error === null ? {} : { 'dead-error': errorText(death.error) }),
  };
  return { key: record.key, headers: { ...record.headers, ...added }, raw: record.raw };
}

const isOurs = (name: string): boolean => name.startsWith('dead-') || name.startsWith('redrive-');

/** The original record of a letter, with its own headers, for one group only. */
export function redrivenRecord(
  letter: Pick<StoredRecord, 'key' | 'headers' | 'raw'>,
  to: { readonly topic: string; readonly group: string; readonly letter: string },
): OutgoingRecord {
  const own = Object.fromEntries(Object.entries(letter.headers).filter(([name]) => !isOurs(name)));
  const added: RedriveHeaders = { 'redrive-group': to.group, 'redrive-letter': to.letter };
  return { topic: to.topic, key: letter.key ?? null, headers: { ...own, ...added }, raw: letter.raw };
}

/** Whether a record was re-driven for a different group. */
export const isForAnother = ({ headers }: Pick<RawRecord, 'headers'>, group: string): boolean =>
  headers['redrive-group'] !== undefined && headers['redrive-group'] !== group;

/** Whether a record was re-driven. */
export const isRedriven = ({ headers }: Pick<RawRecord, 'headers'>): boolean => headers['redrive-letter'] !== undefined;

function jsonOf(event: Event): Buffer {
  let text: string | undefined;
  try {
    text = JSON.stringify(event.data);
  } catch (error) {
    throw new Failure('EVENT_UNDECODABLE', `${event.type} ${event.id} has no JSON form.`, { cause: error });
  }
  if (text === undefined) throw new Failure('EVENT_UNDECODABLE', `${event.type} ${event.id} has no data.`);
  return Buffer.from(text);
}

async function referenced(record: RawRecord, raw: Buffer, blobs: Blobs): Promise<Buffer> {
  const reference = parseJson(record, raw);
  if (!isBlobRef(reference)) throw undecodable(record, 'its reference to a stored body is not valid');
  try {
    return await blobs.get(reference);
  } catch (error) {
    if (error instanceof Failure && error.code === 'BLOB_CORRUPT') throw undecodable(record, 'its stored body is corrupt', error);
    throw error;
  }
}

async function opened(record: RawRecord, body: Buffer, seals: SealOpener | null): Promise<Buffer> {
  if (record.headers[sealedHeader] === undefined) return body;
  if (!seals) throw new Failure('SEAL_KEY_MISSING');
  return seals.open(record, body);
}

function parseJson(record: RawRecord, raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch (error) {
    throw undecodable(record, 'its value is not JSON', error);
  }
}

function required(record: RawRecord, name: string): string {
  const value = record.headers[name];
  if (!value) throw undecodable(record, `the header ${name} is missing`);
  return value;
}

function isBlobRef(value: unknown): value is BlobRef {
  const { sha256, bytes } = (value ?? {}) as Partial<Record<keyof BlobRef, unknown>>;
  return (
    typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) && typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0
  );
}

const isService = (name: string): name is Service => (services as readonly string[]).includes(name);

const undecodable = (record: RawRecord, why: string, cause?: unknown): Failure =>
  new Failure('EVENT_UNDECODABLE', `${recordName(record)}: ${why}.`, { cause });
