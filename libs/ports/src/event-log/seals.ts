import { randomBytes } from 'node:crypto';
import { CallRecorded, depthOf, Failure, PlanRequested, rootOf, type Event, type EventType } from '@conclave/contracts';
import type { Blobs } from '../blobs/blobs.js';
import { cipherName, decrypted, encrypted, keyBytes } from '../encryption.js';
import { encodeEvent, encodeEventNow, erasedRecord, type EncodedRecord, type RawRecord, sealedHeader, type SealOpener } from './record.js';

/**
 * The key of each run, wrapped by the master key; kept beside the state of the run for longer than the log keeps a record. Child runs share
 * the key of the run that a client requested. Throws STORE_*.
 */
export interface SealKeys {
  /** Null for a run that never had one, `destroyed` after `destroy`. */
  read(runId: string): Promise<string | null>;
  /** The key of the run, which is `offered` if it has none yet. */
  keep(runId: string, offered: string): Promise<string>;
  /** Destroys the key: from then on nobody receives it, nor another key for this run. Returns whether the run had one. */
  destroy(runId: string): Promise<boolean>;
}
/** Value that is read in place of a destroyed key. */
export const destroyedKey = 'destroyed';

/** Seals and opens bodies of records: only a process that gets the key of a run can read them. */
export interface Seals extends SealOpener {
  /** Like `encodeEvent`, but the body is sealed if the run has a key, and left out if its key was destroyed. */
  encode(event: Event, blobs: Blobs): Promise<EncodedRecord>;
  /** Destroys the key of a run. Returns whether its records were sealed. */
  destroy(runId: string): Promise<boolean>;
}

/** Events that contain the input of a client, or results of it. Uploads of documents are not among them, because they belong to no run. */
const sealed: ReadonlySet<string> = new Set<EventType>([
  ...(['PlanRequested', 'PlanCreated', 'TaskDispatched', 'ResultReady', 'GapDetected', 'CommandIssued'] as const),
  ...(['RunCompleted', 'StepRecorded', 'CallRecorded'] as const),
]);
/** A call that a gateway made directly for a client is not sealed, because it belongs to no run that could be deleted. */
const isSealed = ({ type, source }: Event): boolean => sealed.has(type) && !(type === CallRecorded.type && source === 'gateway');

/** Maximum number of keys in memory, and milliseconds for which each stays there: a destroyed key is noticed at the latest then. */
const remembered = { keys: 10_000, ms: 60_000 };

interface Remembered {
  readonly key: Promise<Buffer | 'destroyed' | null>;
  readonly until: number;
}

/**
 * Seals with AES-256-GCM: a random key for each run, wrapped by the first of `masters`; the others still open what they have wrapped. A
 * body is bound to the type and the id of its event.
 */
export class RunSeals implements Seals {
  private readonly known = new Map<string, Remembered>();

  constructor(
    private readonly keys: SealKeys,
    private readonly masters: readonly Buffer[],
    private readonly now: () => number = Date.now,
  ) {}

  async encode(event: Event, blobs: Blobs): Promise<EncodedRecord> {
    if (!isSealed(event)) return encodeEvent(event, blobs);
    // Only the request makes a key: either every record of a run is sealed or none.
    const key = await this.keyOf(event.runId, event.type === PlanRequested.type && depthOf(event.runId) === 0);
    if (key === null) return encodeEvent(event, blobs);
    if (key === 'destroyed')
      return erasedRecord(
        encodeEventNow(event, () => ({ sha256: '', bytes: 0 })),
        this.now(),
      );
    const close = (body: Buffer): Buffer => encrypted(key, body, boundTo(event.type, event.id));
    const record = await encodeEvent(event, { put: (body) => blobs.put(close(body)), get: (ref) => blobs.get(ref) });
    const isReference = record.headers['ce_dataref'] !== undefined;
    return { ...record, headers: { ...record.headers, [sealedHeader]: cipherName }, raw: isReference ? record.raw : close(record.raw) };
  }

  async open({ headers }: Pick<RawRecord, 'headers'>, body: Buffer): Promise<Buffer> {
    const { ce_runid: runId = '', ce_type: type = '', ce_id: id = '' } = headers;
    const key = await this.keyOf(runId, false);
    // A key that no longer exists has the same effect as a destroyed one: nobody can read the record.
    if (key === null || key === 'destroyed') throw new Failure('EVENT_ERASED', `${type} ${id}.`);
    const opened = decrypted(key, body, boundTo(type, id));
    if (!opened) throw new Failure('EVENT_UNDECODABLE', `${type} ${id}: its sealed body was changed.`);
    return opened;
  }

  destroy(runId: string): Promise<boolean> {
    this.known.delete(rootOf(runId));
    return this.keys.destroy(rootOf(runId));
  }

  private async keyOf(runId: string, makes: boolean): Promise<Buffer | 'destroyed' | null> {
    const root = rootOf(runId);
    const known = this.known.get(root);
    if (known && known.until > this.now()) return known.key;
    const key = this.readKey(root, makes);
    this.known.delete(root);
    this.known.set(root, { key, until: this.now() + remembered.ms });
    if (this.known.size > remembered.keys) this.known.delete(this.known.keys().next().value!);
    try {
      const read = await key;
      // A run without a key may get one as long as its request is not published.
      if (read === null) this.known.delete(root);
      return read;
    } catch (error) {
      this.known.delete(root);
      throw error;
    }
  }

  private async readKey(root: string, makes: boolean): Promise<Buffer | 'destroyed' | null> {
    const wrapped = makes ? await this.keys.keep(root, this.wrapped(root)) : await this.keys.read(root);
    if (wrapped === null || wrapped === destroyedKey) return wrapped;
    for (const master of this.masters) {
      const key = decrypted(master, Buffer.from(wrapped, 'base64'), Buffer.from(root));
      if (key) return key;
    }
    throw new Failure('SEAL_KEY_MISSING', this.masters.length > 1 ? 'This process has other keys.' : 'This process has another key.');
  }

  private wrapped(root: string): string {
    return encrypted(this.masters[0]!, randomBytes(keyBytes), Buffer.from(root)).toString('base64');
  }
}

const boundTo = (type: string, id: string): Buffer => Buffer.from(`${type} ${id}`);

/**
 * Master keys, one after the other, each as 32 bytes in base64 or 64 hex digits: the first one wraps, the others only open. Null for
 * anything else, and for a list with duplicates.
 */
export function masterKeysOf(text: string): readonly Buffer[] | null {
  const keys = text
    .split(/[\s,]+/)
    .filter((one) => one !== '')
    .map(masterKeyOf);
  const whole = keys.filter((key) => key !== null);
  const different = new Set(whole.map((key) => key.toString('hex')));
  return whole.length > 0 && whole.length === keys.length && different.size === keys.length ? whole : null;
}

function masterKeyOf(text: string): Buffer | null {
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  const key = Buffer.from(text, isHex ? 'hex' : 'base64');
  const isWhole = isHex || /^[A-Za-z0-9+/_-]{43}=?$/.test(text);
  return isWhole && key.length === keyBytes ? key : null;
}
