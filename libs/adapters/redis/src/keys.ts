/** The run an id belongs to: its part before the first slash, as run and task ids are made. */
export const runOf = (id: string): string => id.split('/', 1)[0]!;

/** The keys of one run; its id is the hash tag, so that they share a slot. */
export interface RunKeys {
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

/** Every key and channel of a store. All of them begin with its prefix, so that stores can share a server. */
export class Keys {
  readonly identity: string;
  readonly health: string;
  readonly open: string;
  readonly unpublished: string;
  readonly timers: string;
  readonly timerData: string;
  readonly leases: string;
  readonly leaseClasses: string;
  /** Processes that have attached clients. */
  readonly attachers: string;
  readonly parked: string;
  readonly repeats: string;
  /** Every setting's name and version. */
  readonly settings: string;
  /** What stands before and after a run id in the key of its run. */
  readonly aroundRun: readonly [string, string];
  /** What stands before the name of a task class. */
  readonly beforeClass: string;
  /** What stands before the name and the day of an account. */
  readonly beforeAccount: string;

  constructor(private readonly prefix: string) {
    this.identity = `${prefix}identity`;
    this.health = `${prefix}health`;
    this.open = `${prefix}runs:open`;
    this.unpublished = `${prefix}runs:unpublished`;
    this.timers = `${prefix}timers`;
    this.timerData = `${prefix}timers:data`;
    this.leases = `${prefix}leases`;
    this.leaseClasses = `${prefix}leases:classes`;
    this.attachers = `${prefix}attached:by`;
    this.parked = `${prefix}runs:parked`;
    this.repeats = `${prefix}calls:repeated`;
    this.settings = `${prefix}settings`;
    this.aroundRun = [`${prefix}{`, '}:run'];
    this.beforeClass = `${prefix}class:`;
    this.beforeAccount = `${prefix}usage:`;
  }

  of(runId: string): RunKeys {
    const key = (name: string) => `${this.prefix}{${runId}}:${name}`;
    return {
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

  /** Runs with clients that this process has attached. */
  attachedBy(processId: string): string {
    return `${this.attachers}:${processId}`;
  }
  tenant(tenant: string): string {
    return `${this.prefix}tenant:${tenant}`;
  }
  retry(retryKey: string): string {
    return `${this.prefix}retry:${retryKey}`;
  }
  workers(taskClass: string): string {
    return `${this.beforeClass}${taskClass}`;
  }
  slots(name: string): string {
    return `${this.prefix}slots:${name}`;
  }
  delivery(group: string, record: string): string {
    return `${this.prefix}delivery:${JSON.stringify([group, record])}`;
  }
  setting(name: string): string {
    return `${this.prefix}setting:${name}`;
  }
  settingHistory(name: string): string {
    return `${this.prefix}setting-history:${name}`;
  }
  cached(tenant: string, key: string): string {
    return this.ofTenant('cache', tenant, key);
  }
  cacheTag(tenant: string, tag: string): string {
    return this.ofTenant('cache-tag', tenant, tag);
  }
  cacheBan(tenant: string, tag: string): string {
    return this.ofTenant('cache-ban', tenant, tag);
  }
  cacheClaim(tenant: string, key: string): string {
    return this.ofTenant('cache-claim', tenant, key);
  }
  cacheRemoval(nonce: string): string {
    return `${this.prefix}cache-removal:${nonce}`;
  }
  scores(tenant: string): string {
    return `${this.prefix}scores:${JSON.stringify(tenant)}`;
  }
  scoreEvent(tenant: string, eventId: string): string {
    return this.ofTenant('score-event', tenant, eventId);
  }
  once(tenant: string, name: string): string {
    return this.ofTenant('once', tenant, name);
  }
  /** `name` is JSON. */
  account(name: string, day: string): string {
    return `${this.beforeAccount}${name}:${day}`;
  }
  breaker(provider: string): string {
    return `${this.prefix}breaker:${provider}`;
  }
  blob(sha256: string): string {
    return `${this.prefix}blob:${sha256}`;
  }
  channel(name: string): string {
    return `${this.prefix}hint:${name}`;
  }

  /** Names that others choose stand as JSON: it tells where the tenant ends, and has no half of a surrogate pair, which UTF-8 replaces. */
  private ofTenant(kind: string, tenant: string, name: string): string {
    return `${this.prefix}${kind}:${JSON.stringify([tenant, name])}`;
  }
}
