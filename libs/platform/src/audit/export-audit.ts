import {
  type AnyEvent,
  type AuditBody,
  CallRecorded,
  CommandIssued,
  deadTopic,
  LetterSettled,
  PlanRequested,
  rootOf,
  RunId,
  StepRecorded,
} from '@conclave/contracts';
import { erasedHeader, type EventLog, recordName, sealedHeader, type StateStore, type StoredRecord } from '@conclave/ports';
import { AuditChain, type AuditEntry, type AuditScope, sha256 } from './audit-chain.js';
import type { AuditKey } from './audit-key.js';
import { SortedSpool } from './sorted-spool.js';

/** Which records are exported. */
export interface AuditFilter {
  /** Null: the records of all tenants and those that belong to no tenant. */
  readonly tenant: string | null;
  /** Only this run and its child runs. */
  readonly run: string | null;
  /** Milliseconds since 1970; compared with the time at which the log accepted the record. */
  readonly since: number | null;
  readonly until: number | null;
}

export interface AuditSource {
  readonly log: Pick<EventLog, 'read'>;
  readonly runs: Pick<StateStore['runs'], 'header' | 'erased'>;
}

export interface AuditExport {
  readonly source: AuditSource;
  readonly filter: AuditFilter;
  readonly actor: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly key: AuditKey;
  readonly signal?: AbortSignal;
  /** Called from time to time with what was read and what was exported so far. */
  readonly onProgress?: (at: { readonly read: number; readonly exported: number }) => void;
  /** Characters held in memory; default 32 million. */
  readonly most?: number;
}

/** Topics with records for auditors. On `dead`, only the decisions of people are such records. */
const topics = ['audit', CommandIssued.topic, deadTopic] as const;
const heldInMemory = 32_000_000;
const progressEvery = 1_000;
/** Runs whose tenant is remembered. */
const rememberedRuns = 50_000;

/**
 * The lines of an export, each with its line feed, in the order in which the log accepted the records; the last one is the signed head.
 * Reads every record once, and keeps a limited part of them in memory. Throws the errors of the log and of the store.
 */
export async function* exportAudit(options: AuditExport): AsyncGenerator<string> {
  const { source, filter, actor, now, key, signal, onProgress, most = heldInMemory } = options;
  const tenants = new RunTenants(source.runs);
  const spool = new SortedSpool(most);
  let [read, exported] = [0, 0];
  try {
    const range = {
      ...(filter.since === null ? {} : { since: filter.since }),
      ...(filter.until === null ? {} : { until: filter.until }),
    };
    for (const topic of topics)
      for await (const record of source.log.read(topic, range)) {
        signal?.throwIfAborted();
        read += 1;
        if (read % progressEvery === 0) onProgress?.({ read, exported });
        if (!isWithin(record, filter)) continue;
        const entry = entryOf(record, await tenantOf(record, tenants));
        tenants.learn(record);
        // The tenant of this record may still be unknown: a later record may show it.
        if (filter.tenant !== null && entry.tenant !== null && entry.tenant !== filter.tenant) continue;
        exported += 1;
        await spool.add({ order: orderOf(record), text: JSON.stringify(entry) });
      }
    onProgress?.({ read, exported });
    const chain = new AuditChain();
    for await (const text of spool.sorted()) {
      signal?.throwIfAborted();
      const entry = JSON.parse(text) as AuditEntry;
      const tenant = entry.tenant ?? tenants.learned(entry.run);
      if (filter.tenant === null || tenant === filter.tenant) yield `${chain.line({ ...entry, tenant })}\n`;
    }
    const scope: AuditScope = {
      tenant: filter.tenant,
      run: filter.run,
      since: momentOf(filter.since),
      until: momentOf(filter.until),
      exported_at: new Date(now).toISOString(),
      exported_by: actor,
    };
    yield `${chain.seal(scope, key)}\n`;
  } finally {
    await spool.close();
  }
}

const momentOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function isWithin(record: StoredRecord, { run, since, until }: AuditFilter): boolean {
  // Dead letters are not part of the audit, but people's decisions about them are.
  if (record.topic === deadTopic && (record.headers['dead-topic'] !== undefined || record.headers['ce_type'] !== LetterSettled.type))
    return false;
  if (since !== null && record.appendedAt < since) return false;
  if (until !== null && record.appendedAt > until) return false;
  if (run === null) return true;
  const id = runOf(record);
  const read = record.event?.type === 'DetailRead' ? (record.event as Extract<AnyEvent, { type: 'DetailRead' }>).data.run : null;
  return [id, read].some((one) => one !== null && (one === run || rootOf(one) === run || one.startsWith(`${run}~`)));
}

const runOf = ({ event, headers }: StoredRecord): string | null => event?.runId ?? headers['ce_runid'] ?? null;

/** Sorts as text: time, then place. */
const orderOf = ({ appendedAt, topic, partition, offset }: StoredRecord): string =>
  `${String(appendedAt).padStart(15, '0')} ${topic} ${String(partition).padStart(6, '0')} ${offset.padStart(20, '0')}`;

function entryOf(record: StoredRecord, tenant: string | null): AuditEntry {
  const { event, headers, appendedAt } = record;
  const madeAt = event?.time ?? Date.parse(headers['ce_time'] ?? '');
  const { body, data, body_sha256 } = bodyOf(record);
  return {
    place: recordName(record),
    appended_at: new Date(appendedAt).toISOString(),
    made_at: Number.isNaN(madeAt) ? null : new Date(madeAt).toISOString(),
    id: event?.id ?? headers['ce_id'] ?? null,
    type: event?.type ?? headers['ce_type'] ?? null,
    source: event?.source ?? headers['ce_source'] ?? null,
    run: runOf(record),
    tenant,
    body_sha256,
    body,
    data,
  };
}

function bodyOf({ event, headers, raw }: StoredRecord): { readonly body: AuditBody; readonly data: unknown; readonly body_sha256: string } {
  const erased = headers[erasedHeader];
  // An overwritten body left its hash. A sealed body still exists: only its key is gone.
  if (erased !== undefined && erased !== 'sealed') return { body: 'erased', data: null, body_sha256: hashLeft(raw) ?? sha256(raw) };
  const body_sha256 = sha256(raw);
  if (erased !== undefined) return { body: 'erased', data: null, body_sha256 };
  if (!event) return { body: 'unreadable', data: null, body_sha256 };
  if (headers[sealedHeader] !== undefined) return { body: 'sealed', data: event.data, body_sha256 };
  if (headers['ce_dataref'] !== undefined) return { body: 'stored', data: event.data, body_sha256 };
  const data: unknown = JSON.parse(raw.toString('utf8'));
  // A record that another program wrote may contain the same JSON in another form: its hash cannot be checked with its data.
  return JSON.stringify(data) === raw.toString('utf8')
    ? { body: 'plain', data, body_sha256 }
    : { body: 'stored', data: event.data, body_sha256 };
}

function hashLeft(raw: Buffer): string | null {
  try {
    const { sha256: left } = JSON.parse(raw.toString('utf8')) as { sha256?: unknown };
    return typeof left === 'string' && /^[0-9a-f]{64}$/.test(left) ? left : null;
  } catch {
    return null;
  }
}

/** The tenants of runs: from the state store or, if it has forgotten a run, from the first step of the run in the audit. */
class RunTenants {
  private readonly known = new Map<string, string | null>();
  private readonly byStep = new Map<string, string>();

  constructor(private readonly runs: AuditSource['runs']) {}

  learn({ event }: StoredRecord): void {
    const step = event as AnyEvent | null;
    if (step?.type !== StepRecorded.type || step.data.input.type !== PlanRequested.type) return;
    const root = rootOf(step.runId);
    const { caller } = (step.data.input.data ?? {}) as { caller?: { tenant?: unknown } };
    if ((this.known.get(root) ?? null) === null && typeof caller?.tenant === 'string') this.byStep.set(root, caller.tenant);
  }

  learned(run: string | null): string | null {
    return run === null ? null : (this.byStep.get(rootOf(run)) ?? null);
  }

  async of(runId: string): Promise<string | null> {
    const root = rootOf(runId);
    if (!RunId.safeParse(root).success) return null;
    const known = this.known.get(root);
    if (known !== undefined) return known;
    const tenant = (await this.runs.header(root))?.data.caller.tenant ?? (await this.runs.erased(root))?.tenant ?? null;
    if (this.known.size >= rememberedRuns) this.known.clear();
    this.known.set(root, tenant);
    return tenant;
  }
}

/** Null for a record that concerns all tenants, and for a run whose tenant is not known yet. */
async function tenantOf({ event, headers }: StoredRecord, tenants: RunTenants): Promise<string | null> {
  const known = event as AnyEvent | null;
  switch (known?.type) {
    case 'RunErased':
    case 'DetailRead':
      return known.data.tenant;
    case 'SettingChanged':
      return tenantOfSetting(known.data);
    case CallRecorded.type:
      return known.data.caller?.tenant ?? tenants.of(known.runId);
    default: {
      const id = known?.runId ?? headers['ce_runid'];
      return id === undefined ? null : tenants.of(id);
    }
  }
}

/** A key belongs to its tenant; all other settings serve all tenants. */
function tenantOfSetting({ setting, before, after }: Extract<AnyEvent, { type: 'SettingChanged' }>['data']): string | null {
  if (!setting.startsWith('keys/')) return null;
  const { tenant } = (after ?? before ?? {}) as { tenant?: unknown };
  return typeof tenant === 'string' ? tenant : null;
}
