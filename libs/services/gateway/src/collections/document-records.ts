import { Inject, Injectable } from '@nestjs/common';
import { documentIndexes, documentIndexSetting, documentSetting, Failure, StoredDocument, StoredDocumentIds } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';

/** Most tries to write a record while workers write progress to it. */
const tries = 20;
/** Most documents whose ids begin with the same digit: about ten thousand per collection. */
const mostPerIndex = 640;

/** Stored records of a tenant's documents. */
@Injectable()
export class DocumentRecords {
  constructor(@Inject(STATE) private readonly state: Pick<StateStore, 'settings'>) {}

  /** Also returns documents that are being removed. */
  async read(tenant: string, collection: string, id: string): Promise<StoredDocument | null> {
    const stored = await this.state.settings.read(documentSetting(tenant, collection, id));
    return stored ? StoredDocument.parse(stored.value) : null;
  }

  /** Ids in order. Some may have no record yet, or that of a document that is being removed. */
  async ids(tenant: string, collection: string): Promise<readonly string[]> {
    const lists = await Promise.all(documentIndexes.map((digit) => this.index(documentIndexSetting(tenant, collection, digit))));
    return lists.flatMap(({ ids }) => ids);
  }

  /** Throws COLLECTION_FULL. */
  async enter(tenant: string, collection: string, id: string): Promise<void> {
    await this.reindex(tenant, collection, id, (ids) => {
      if (ids.includes(id)) return null;
      if (ids.length >= mostPerIndex) throw new Failure('COLLECTION_FULL', 'A collection holds about ten thousand documents at most.');
      return [...ids, id].sort();
    });
  }

  /** Removes the record of a document that is marked as removed, with its earlier versions. One that was uploaded again meanwhile stays. */
  async discard(tenant: string, collection: string, id: string): Promise<void> {
    await this.reindex(tenant, collection, id, (ids) => (ids.includes(id) ? ids.filter((one) => one !== id) : null));
    const name = documentSetting(tenant, collection, id);
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const stored = await this.state.settings.read(name);
      if (!stored) return;
      if (StoredDocument.parse(stored.value).status !== 'deleted') return this.enter(tenant, collection, id);
      if (await this.state.settings.remove(name, stored.version)) return;
    }
    throw new Failure('SETTING_CHANGED', 'The document is being processed.');
  }

  private async reindex(
    tenant: string,
    collection: string,
    id: string,
    change: (ids: readonly string[]) => readonly string[] | null,
  ): Promise<void> {
    const name = documentIndexSetting(tenant, collection, id.charAt('doc_'.length));
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const { version, ids } = await this.index(name);
      const next = change(ids);
      if (next === null || (await this.state.settings.write(name, version, { ids: next }))) return;
    }
    throw new Failure('SETTING_CHANGED', 'Too many documents are being added and removed.');
  }

  private async index(name: string): Promise<{ readonly version: number; readonly ids: readonly string[] }> {
    const stored = await this.state.settings.read(name);
    return { version: stored?.version ?? 0, ids: stored ? StoredDocumentIds.parse(stored.value).ids : [] };
  }

  /** Returns the record after `change`; the record stays as it is when `change` returns null. */
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
    throw new Failure('SETTING_CHANGED', 'The document is being processed.');
  }
}
