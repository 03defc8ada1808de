import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { collectionsSetting, StoredCollections, type Template } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';

/** Milliseconds a list may be reused: changed settings apply within two seconds. */
const reusedMs = 2_000;
/** Most tenants whose lists are cached. */
const mostKept = 1_000;

interface CachedCollections {
  readonly at: number;
  readonly collections: StoredCollections['collections'];
}

/** The collections of each tenant. */
@Injectable()
export class TenantCollections {
  private readonly kept = new Map<string, CachedCollections>();

  constructor(@Inject(STATE) private readonly state: Pick<StateStore, 'settings'>) {}

  /** The current list and the version at which to write it. Throws STORE_*. */
  async read(tenant: string): Promise<{ readonly version: number; readonly collections: StoredCollections['collections'] }> {
    const stored = await this.state.settings.read(collectionsSetting(tenant));
    return { version: stored?.version ?? 0, collections: StoredCollections.parse(stored?.value ?? { collections: [] }).collections };
  }

  /** Returns false when another write came first. */
  async write(tenant: string, version: number, collections: StoredCollections['collections']): Promise<boolean> {
    this.kept.delete(tenant);
    return this.state.settings.write(collectionsSetting(tenant), version, { collections } satisfies StoredCollections);
  }

  /** The template for runs of this tenant: with its collections, or without the capability if it has none. */
  async offeredBy(template: Template, tenant: string): Promise<Template> {
    if (!template.capabilities.includes('collections')) return template;
    const found = (await this.recent(tenant)).map(({ name, description }) => ({ name, description }));
    const collections = [...(template.collections ?? []), ...found];
    if (collections.length === 0)
      return { ...template, capabilities: template.capabilities.filter((name) => name !== 'collections'), collections };
    const hash = createHash('sha256').update(`${template.version}${JSON.stringify(collections)}`);
    return { ...template, collections, version: hash.digest('hex').slice(0, template.version.length) };
  }

  private async recent(tenant: string): Promise<StoredCollections['collections']> {
    const kept = this.kept.get(tenant);
    if (kept && performance.now() - kept.at < reusedMs) return kept.collections;
    const at = performance.now();
    const { collections } = await this.read(tenant);
    this.kept.delete(tenant);
    this.kept.set(tenant, { at, collections });
    if (this.kept.size > mostKept) this.kept.delete(this.kept.keys().next().value!);
    return collections;
  }
}
