/** Every key of a run lies in the bucket of its root run, and everything else in the bucket of what it belongs to. */
export const bucketCount = 32;

/** The run an id belongs to: its part before the first slash, as run and task ids are made. */
export const runOf = (id: string): string => id.split('/', 1)[0]!;

/** Child runs stay with the run that began them: `root~child` belongs to `root`. */
const rootOf = (runId: string): string => runId.split('~', 1)[0]!;

/** FNV-1a over UTF-16 code units: the same in every process and for ever, because keys stand in a store. */
function bucketOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < name.length; n += 1) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  // The low bits of names that differ in one character alone are alike.
  return ((hash ^ (hash >>> 15)) >>> 0) % bucketCount;
}

/**
 * Keys with one hash tag, which a Redis Cluster keeps on one node: a script may use any of them together. Each bucket has the mark of the
 * store, so that a script can see whose store it runs on, and the indexes over its runs.
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
  /** Runs with clients that one process has attached stand under this and its id. */
  readonly beforeAttached: string;
  readonly parked: string;
  readonly repeats: string;
  /** What stands before and after a run id in the key of its run. */
  readonly aroundRun: readonly [string, string];
  /** What stands before the name and the day of an account: what runs of this bucket were charged with. */
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
}

/** A key and the bucket it lies in. */
export interface Placed {
  readonly at: Bucket;
  readonly key: string;
}

/** Every key and channel of a store. All of them begin with its prefix, so that stores can share a server. */
export class Keys {
  readonly buckets: readonly Bucket[];
  /** What is there once: leases of processes, places of open runs, settings. */
  readonly common: Bucket;
  readonly leases: string;
  readonly leaseClasses: string;
  /** What stands before the name of a task class. */
  readonly beforeClass: string;
  /** Runs that have taken a place among the open ones, by when. One that has ended keeps its place until somebody needs it. */
  readonly places: string;
  /** Stored bodies by when they expire, and how many bytes they have together. */
  readonly bodies: string;
  readonly bodyBytes: string;
  /** Every setting's name and version. */
  readonly settings: string;
  /** The mark of a store of before buckets, which is not read. */
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
    };
  }

  tenant(tenant: string): Placed {
    return this.placed(tenant, `tenant:${tenant}`);
  }
  retry(retryKey: string): Placed {
    return this.placed(retryKey, `retry:${retryKey}`);
  }
  workers(taskClass: string): string {
    return `${this.beforeClass}${taskClass}`;
  }
  slots(name: string): Placed {
    return this.placed(name, `slots:${name}`);
  }
  delivery(group: string, record: string): Placed {
    const name = JSON.stringify([group, record]);
    return this.placed(name, `delivery:${name}`);
  }
  setting(name: string): string {
    return this.in(this.common, `setting:${name}`);
  }
  settingHistory(name: string): string {
    return this.in(this.common, `setting-history:${name}`);
  }
  /** All of a tenant's caches lie together: a tag removes many entries at once. */
  cached(tenant: string, key: string): Placed {
    return this.ofTenant('cache', tenant, key);
  }
  cacheTag(tenant: string, tag: string): Placed {
    return this.ofTenant('cache-tag', tenant, tag);
  }
  cacheBan(tenant: string, tag: string): Placed {
    return this.ofTenant('cache-ban', tenant, tag);
  }
  cacheClaim(tenant: string, key: string): Placed {
    return this.ofTenant('cache-claim', tenant, key);
  }
  cacheRemoval(tenant: string, nonce: string): Placed {
    return this.placed(tenant, `cache-removal:${nonce}`);
  }
  scores(tenant: string): Placed {
    return this.placed(tenant, `scores:${JSON.stringify(tenant)}`);
  }
  scoreEvent(tenant: string, eventId: string): Placed {
    return this.ofTenant('score-event', tenant, eventId);
  }
  once(tenant: string, name: string): Placed {
    return this.ofTenant('once', tenant, name);
  }
  /** `name` is JSON. */
  account({ beforeAccount }: Bucket, name: string, day: string): string {
    return `${beforeAccount}${name}:${day}`;
  }
  breaker(provider: string): Placed {
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

  private placed(owner: string, name: string): Placed {
    const at = this.bucketOf(owner);
    return { at, key: this.in(at, name) };
  }

  /** Names that others choose stand as JSON: it tells where the tenant ends, and has no half of a surrogate pair, which UTF-8 replaces. */
  private ofTenant(kind: string, tenant: string, name: string): Placed {
    return this.placed(tenant, `${kind}:${JSON.stringify([tenant, name])}`);
  }
}
