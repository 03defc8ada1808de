import { rootOf } from '@conclave/contracts';

/** Keys of a run are in the bucket of its root run, other keys in the bucket of their owner (tenant, retry key and so on). */
export const bucketCount = 32;

/** The run of a run or task id: the part before the first slash. */
export const runOf = (id: string): string => id.split('/', 1)[0]!;

/** FNV-1a over UTF-16 code units. Must never change, because stored keys depend on it. */
function bucketOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < name.length; n += 1) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  // Mixes in high bits: the low bits of names that differ in one character are similar.
  return ((hash ^ (hash >>> 15)) >>> 0) % bucketCount;
}

/**
 * Keys with one hash tag, which a Redis Cluster keeps on one node, so that one script may use any of them. Each bucket contains the mark of the
 * store, which scripts check, and the indexes of its runs.
 */
export interface Bucket {
  readonly n: number;
  readonly identity: string;
  readonly health: string;
  /** Accepted runs that have not ended. */
  readonly open: string;
  readonly unpublished: string;
  readonly timers: string;
  readonly timerData: string;
  /** Processes that have attached clients to runs of the bucket. */
  readonly attachers: string;
  /** Key prefix before a process id: runs with clients attached by that process. */
  readonly beforeAttached: string;
  readonly parked: string;
  readonly repeats: string;
  /** The parts before and after a run id in the key of its run. */
  readonly aroundRun: readonly [string, string];
  /** Key prefix before the name and day of an account: charges for runs of this bucket. */
  readonly beforeAccount: string;
}

/** The keys of one run. */
export interface RunKeys {
  readonly at: Bucket;
  readonly run: string;
  readonly applied: string;
  readonly stream: string;
  readonly streamTasks: string;
  readonly journal: string;
  readonly started: string;
  readonly cancelled: string;
  readonly commands: string;
  readonly attached: string;
  readonly usage: string;
  readonly seal: string;
}

/** A key and its bucket. */
export interface PlacedKey {
  readonly at: Bucket;
  readonly key: string;
}

/** All keys and channels of a store. Each begins with its prefix, so that stores can share a server. */
export class Keys {
  readonly buckets: readonly Bucket[];
  /** The bucket of global keys: leases of processes, places of open runs, settings. */
  readonly common: Bucket;
  readonly leases: string;
  readonly leaseClasses: string;
  /** Key prefix before the name of a task class. */
  readonly beforeClass: string;
  /** Runs with a place among the open ones, by time. An ended run keeps its place until another run needs it. */
  readonly places: string;
  /** Stored bodies by expiry time; `bodyBytes` is their total size. */
  readonly bodies: string;
  readonly bodyBytes: string;
  /** Name and version of each setting. */
  readonly settings: string;
  /** The mark of a store from before buckets existed; such a store is refused. */
  readonly formerIdentity: string;

  constructor(private readonly prefix: string) {
    this.buckets = Array.from({ length: bucketCount }, (_, n) => this.bucket(n));
    this.common = this.buckets[0]!;
    const common = (name: string) => this.in(this.common, name);
    this.leases = common('leases');
    this.leaseClasses = common('leases:classes');
    this.beforeClass = common('class:');
    this.places = common('places');
    this.bodies = common('blobs');
    this.bodyBytes = common('blobs:bytes');
    this.settings = common('settings');
    this.formerIdentity = `${prefix}identity`;
  }

  of(runId: string): RunKeys {
    // Child runs stay with their root: `root~child` belongs to `root`.
    const at = this.bucketOf(rootOf(runId));
    const key = (name: string) => this.in(at, `run:${runId}:${name}`);
    return {
      at,
      run: key('run'),
      applied: key('applied'),
      stream: key('stream'),
      streamTasks: key('stream:tasks'),
      journal: key('journal'),
      started: key('started'),
      cancelled: key('cancelled'),
      commands: key('commands'),
      attached: key('attached'),
      usage: key('usage'),
      seal: key('seal'),
    };
  }

  tenant(tenant: string): PlacedKey {
    return this.placed(tenant, `tenant:${tenant}`);
  }
  retry(retryKey: string): PlacedKey {
    return this.placed(retryKey, `retry:${retryKey}`);
  }
  workers(taskClass: string): string {
    return `${this.beforeClass}${taskClass}`;
  }
  /** `waiting`: when each holder came that waits for a slot; `waits`: until when it keeps its place. */
  slots(name: string): PlacedKey & { readonly waiting: string; readonly waits: string } {
    const keyOf = (kind: string): string => this.placed(name, `${kind}:${name}`).key;
    return { ...this.placed(name, `slots:${name}`), waiting: keyOf('slots-waiting'), waits: keyOf('slots-waits') };
  }
  delivery(group: string, record: string): PlacedKey {
    const name = JSON.stringify([group, record]);
    return this.placed(name, `delivery:${name}`);
  }
  setting(name: string): string {
    return this.in(this.common, `setting:${name}`);
  }
  settingHistory(name: string): string {
    return this.in(this.common, `setting-history:${name}`);
  }
  /** All cache entries of a tenant share a bucket: removing a tag removes many entries at once. */
  cached(tenant: string, key: string): PlacedKey {
    return this.ofTenant('cache', tenant, key);
  }
  cacheTag(tenant: string, tag: string): PlacedKey {
    return this.ofTenant('cache-tag', tenant, tag);
  }
  cacheBan(tenant: string, tag: string): PlacedKey {
    return this.ofTenant('cache-ban', tenant, tag);
  }
  cacheClaim(tenant: string, key: string): PlacedKey {
    return this.ofTenant('cache-claim', tenant, key);
  }
  cacheRemoval(tenant: string, nonce: string): PlacedKey {
    return this.placed(tenant, `cache-removal:${nonce}`);
  }
  scores(tenant: string): PlacedKey {
    return this.placed(tenant, `scores:${JSON.stringify(tenant)}`);
  }
  scoreEvent(tenant: string, eventId: string): PlacedKey {
    return this.ofTenant('score-event', tenant, eventId);
  }
  once(tenant: string, name: string): PlacedKey {
    return this.ofTenant('once', tenant, name);
  }
  /** `name` is JSON. */
  account({ beforeAccount }: Bucket, name: string, day: string): string {
    return `${beforeAccount}${name}:${day}`;
  }
  /** Key prefix of the allowances of a tenant. */
  allowances(tenant: string): PlacedKey {
    return this.placed(tenant, `allowances:${JSON.stringify(tenant)}`);
  }
  /** `name` is the JSON of the tenant's account. */
  usageItems({ beforeAccount }: Bucket, name: string, day: string): string {
    return `${beforeAccount}items:${name}:${day}`;
  }
  breaker(provider: string): PlacedKey {
    return this.placed(provider, `breaker:${provider}`);
  }
  blob(sha256: string): string {
    return `${this.prefix}blob:${sha256}`;
  }
  channel(name: string): string {
    return `${this.prefix}hint:${name}`;
  }

  private bucket(n: number): Bucket {
    const key = (name: string) => this.in({ n }, name);
    return {
      n,
      identity: key('identity'),
      health: key('health'),
      open: key('runs:open'),
      unpublished: key('runs:unpublished'),
      timers: key('timers'),
      timerData: key('timers:data'),
      attachers: key('attached:by'),
      beforeAttached: key('attached:by:'),
      parked: key('runs:parked'),
      repeats: key('calls:repeated'),
      aroundRun: [key('run:'), ':run'],
      beforeAccount: key('usage:'),
    };
  }

  private bucketOf(name: string): Bucket {
    return this.buckets[bucketOf(name)]!;
  }

  private in({ n }: Pick<Bucket, 'n'>, name: string): string {
    return `${this.prefix}{${n}}:${name}`;
  }

  private placed(owner: string, name: string): PlacedKey {
    const at = this.bucketOf(owner);
    return { at, key: this.in(at, name) };
  }

  /** External names are stored as JSON, which delimits the tenant and escapes lone surrogates that UTF-8 would replace. */
  private ofTenant(kind: string, tenant: string, name: string): PlacedKey {
    return this.placed(tenant, `${kind}:${JSON.stringify([tenant, name])}`);
  }
}
