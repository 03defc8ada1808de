import { Inject, Injectable } from '@nestjs/common';
import { documentSetting, documentsPrefix, Failure, StoredDocument } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';

/** Times a record is written again because a worker wrote its progress meanwhile. */
const tries = 20;

/** What is known of the documents of a tenant. */
@Injectable()
export class DocumentRecords {
  constructor(@Inject(STATE) private readonly state: Pick<StateStore, 'settings'>) {}

  /** Removed ones too. */
  async read(tenant: string, collection: string, id: string): Promise<StoredDocument | null> {
    const stored = await this.state.settings.read(documentSetting(tenant, collection, id));
    return stored ? StoredDocument.parse(stored.value) : null;
  }

  /** Names of settings, so removed documents count too; no more than a bound is ever there. */
  async ids(tenant: string, collection: string): Promise<readonly string[]> {
    const prefix = documentsPrefix(tenant, collection);
    return (await this.state.settings.list(prefix)).map(({ name }) => decodeURIComponent(name.slice(prefix.length)));
  }

  /** The record after `change` was applied to what is there; null from it leaves things as they are. */
  async change(
    tenant: string,
    collection: string,
    id: string,
    change: (present: StoredDocument | null) => StoredDocument | null,
  ): Promise<StoredDocument | null> {
    const name = documentSetting(tenant, collection, id);
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const stored = await this.state.settings.read(name);
      const present = stored ? StoredDocument.parse(stored.value) : null;
      const next = change(present);
      if (next === null) return present;
      if (await this.state.settings.write(name, stored?.version ?? 0, next)) return next;
    }
    throw new Failure('SETTING_CHANGED', 'The document is being worked on.');
  }
}
