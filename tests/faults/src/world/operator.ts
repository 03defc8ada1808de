import type { KeyCreated, TemplateView, TenantList } from '@conclave/contracts';
import { byAdmin } from '@conclave/test-support/system';
import type { World } from './world.js';

/** A reply over HTTP; null if none arrived, because the process died. */
type Reply<T> = { readonly status: number; readonly body: T } | null;

/** Tenant and template whose settings are changed; no question of the load uses either. */
const changedTenant = 'research';
const changedTemplate = 'conclave-research';

/** What an operator was told of a key that was issued. */
interface IssuedKey {
  readonly id: string;
  /** Its present value, and one that was replaced. */
  value: string;
  replaced: string | null;
  /** `unknown`: a change was not confirmed, so either may be true until it is repeated. */
  state: 'valid' | 'revoked' | 'unknown';
}

/** Values of a setting that may be true: one if the last change was confirmed, otherwise that one and those of later changes. */
interface Believed {
  readonly name: string;
  values: number[];
}

/** Most requests per minute of the key that is always at its limit. */
const limit = 3;

/**
 * An operator that issues, rotates and revokes API keys and changes limits and templates over HTTP, and remembers what was confirmed, whatever
 * dies meanwhile.
 */
export class Operator {
  confirmed = 0;
  private readonly keys: IssuedKey[] = [];
  private readonly limits: Believed = { name: `the limit of the tenant ${changedTenant}`, values: [] };
  private readonly timeout: Believed = { name: `task_timeout_s of ${changedTemplate}`, values: [] };
  private limitedKey: string | null = null;
  private next = 0;

  constructor(private readonly world: World) {}

  /** One change; resolves when it is confirmed, refused or lost. */
  async change(): Promise<void> {
    this.next += 1;
    const valid = this.keys.filter(({ state }) => state === 'valid');
    switch (this.next % 6) {
      case 1:
      case 4:
        return this.issue();
      case 2:
        return this.setLimit(1_000 + this.next);
      case 3:
        return this.setTimeOut(20 + (this.next % 100));
      case 5:
        return this.rotate(valid[this.next % Math.max(1, valid.length)]);
      default:
        return this.revoke(valid[0]);
    }
  }

  /** Everything that was confirmed holds; what does not breaks the promise. Throws if the process cannot be asked. */
  async look(): Promise<void> {
    for (const key of this.keys) await this.lookAt(key);
    await this.compare(this.limits, () => this.readLimit());
    await this.compare(this.timeout, () => this.readTimeOut());
    await this.lookAtLimit();
  }

  private async issue(): Promise<void> {
    const isLimited = this.limitedKey === null;
    const wanted = { name: `storm ${this.next}`, ...(isLimited ? { limits: { requests_per_minute: limit } } : {}) };
    const reply = await this.send<KeyCreated>('POST', '/v1/admin/keys', wanted);
    // A key whose value was never shown is of no use to anyone.
    if (reply?.status !== 201) return;
    this.confirmed += 1;
    if (isLimited) this.limitedKey = reply.body.key;
    else this.keys.push({ id: reply.body.id, value: reply.body.key, replaced: null, state: 'valid' });
  }

  private async rotate(key: IssuedKey | undefined): Promise<void> {
    if (!key) return;
    const reply = await this.send<KeyCreated>('POST', `/v1/admin/keys/${key.id}/rotate`, { grace_s: 0 });
    if (reply?.status === 200) {
      this.confirmed += 1;
      Object.assign(key, { replaced: key.value, value: reply.body.key });
    } else if (reply === null || reply.status >= 500) {
      // The old value may be replaced by one that was never shown; only a revocation makes that certain again.
      key.state = 'unknown';
    }
  }

  private async revoke(key: IssuedKey | undefined): Promise<void> {
    if (!key) return;
    key.state = 'unknown';
    const reply = await this.send('DELETE', `/v1/admin/keys/${key.id}`);
    if (reply?.status !== 200) return;
    this.confirmed += 1;
    key.state = 'revoked';
  }

  private setLimit(value: number): Promise<void> {
    return this.set(this.limits, value, () =>
      this.send('PATCH', `/v1/admin/tenants/${changedTenant}`, { limits: { requests_per_minute: value } }),
    );
  }

  private setTimeOut(value: number): Promise<void> {
    return this.set(this.timeout, value, () =>
      this.send('PUT', `/v1/admin/templates/${changedTemplate}`, { options: {}, settings: { task_timeout_s: value } }),
    );
  }

  private async set(setting: Believed, value: number, send: () => Promise<Reply<unknown>>): Promise<void> {
    setting.values.push(value);
    if ((await send())?.status !== 200) return;
    this.confirmed += 1;
    setting.values = [value];
  }

  private async lookAt(key: IssuedKey): Promise<void> {
    const accepted = (await this.models(key.value)) === 200;
    if (key.state === 'valid' && !accepted) this.world.breaks(key.id, 'Its value was issued, and is refused.');
    if (key.state === 'revoked' && accepted) this.world.breaks(key.id, 'It was revoked, and is accepted.');
    if (key.replaced !== null && (await this.models(key.replaced)) === 200)
      this.world.breaks(key.id, 'A value that was replaced is accepted.');
  }

  private async models(value: string): Promise<number> {
    const { status } = (await this.asked('GET', '/v1/models', { authorization: `Bearer ${value}` }))!;
    if (status !== 200 && status !== 401) throw new Error(`A key was answered with ${status}.`);
    return status;
  }

  private async compare({ name, values }: Believed, read: () => Promise<number | null>): Promise<void> {
    if (values.length === 0) return;
    const is = await read();
    if (is === null || !values.includes(is)) this.world.breaks(name, `It is ${is}, but ${values.join(' or ')} was set.`);
  }

  private async readLimit(): Promise<number | null> {
    const { body } = (await this.asked<TenantList>('GET', '/v1/admin/tenants', byAdmin))!;
    return body.data.find(({ id }) => id === changedTenant)?.limits?.requests_per_minute ?? null;
  }

  private async readTimeOut(): Promise<number | null> {
    const { body } = (await this.asked<TemplateView>('GET', `/v1/admin/templates/${changedTemplate}`, byAdmin))!;
    return body.settings.task_timeout_s ?? null;
  }

  /** A process of embedded mode counts the requests of a minute from its start. */
  private async lookAtLimit(): Promise<void> {
    if (this.limitedKey === null) return;
    const accepted: boolean[] = [];
    for (let n = 0; n <= limit; n += 1) accepted.push(await this.useLimited(this.limitedKey));
    if (accepted.every((one) => one))
      this.world.breaks('the limited key', `It was accepted ${limit + 1} times in a minute, but its limit is ${limit}.`);
  }

  private async useLimited(key: string): Promise<boolean> {
    const body = { model: 'conclave-embedding', input: 'amber' };
    const reply = await this.asked('POST', '/v1/embeddings', { authorization: `Bearer ${key}` }, body);
    if (reply?.status === 401) this.world.breaks('the limited key', 'It was issued, and is refused.');
    else if (reply?.status !== 200 && reply?.status !== 429)
      throw new Error(`The limited key was answered with ${reply?.status} ${JSON.stringify(reply?.body)}.`);
    return reply.status === 200;
  }

  private async send<T>(method: string, path: string, body?: object): Promise<Reply<T>> {
    return this.asked<T>(method, path, byAdmin, body).catch(() => null);
  }

  private async asked<T>(method: string, path: string, headers: Readonly<Record<string, string>>, body?: object): Promise<Reply<T>> {
    const response = await fetch(`${this.world.system.url()}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, body: (await response.json()) as T };
  }
}
