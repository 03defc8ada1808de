import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import {
  type Caller,
  type CollectionQuery,
  type DocumentList,
  type DocumentView,
  Failure,
  KnowledgeProposed,
  makeEvent,
  type PassageList,
  type StoredDocument,
} from '@conclave/contracts';
import { traceparentFor } from '@conclave/platform';
import { documentsChanged, documentsCollection, EVENT_LOG, type EventLog, STATE, type StateStore } from '@conclave/ports';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { DocumentRecords } from './document-records.js';
import { TenantCollections } from './tenant-collections.js';
import type { Upload } from './upload.js';
import { UploadQuota } from './upload-quota.js';

/** Number of passages returned for a query that sets none. */
const defaultPassages = 5;

/** Documents of collections: accepted here, read and embedded by graph-ingest. */
@Injectable()
export class Documents {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(DocumentRecords) private readonly records: DocumentRecords,
    @Inject(TenantCollections) private readonly collections: TenantCollections,
    @Inject(UploadQuota) private readonly quota: UploadQuota,
  ) {}

  /** Throws VECTORS_UNAVAILABLE when this installation has no store for collections. */
  parts() {
    const { blobs, vectors, embedder } = this.options;
    if (!blobs || !vectors || !embedder)
      throw new Failure('VECTORS_UNAVAILABLE', 'This installation has no vector store: set `stores.chroma`, or use embedded mode.');
    return { blobs, vectors, embedder };
  }

  /** Throws COLLECTION_NOT_FOUND. */
  async assertCollection(tenant: string, name: string): Promise<void> {
    const { collections } = await this.collections.read(tenant);
    if (!collections.some((one) => one.name === name)) throw new Failure('COLLECTION_NOT_FOUND', 'GET /v1/collections lists them.');
  }

  /**
   * Writes id and bytes, then the record, then the event: after a crash, repeating the upload completes it. A document that is already stored is
   * not processed again. Throws COLLECTION_NOT_FOUND, COLLECTION_FULL, UPLOAD_QUOTA_REACHED, VECTORS_UNAVAILABLE, STORE_*, LOG_UNAVAILABLE.
   */
  async take({ tenant, actor }: Caller, collection: string, upload: Upload): Promise<DocumentView> {
    const { blobs, embedder } = this.parts();
    await this.assertCollection(tenant, collection);
    const sha256 = createHash('sha256').update(upload.bytes).digest('hex');
    const id = documentId(collection, upload.name, sha256);
    const earlier = await this.records.read(tenant, collection, id);
    if (!earlier || !stands(earlier, embedder.id)) await this.quota.take(tenant, upload.bytes.byteLength);
    await this.records.enter(tenant, collection, id);
    await blobs.put(upload.bytes);
    const now = await this.state.now();
    const { name, mime, metadata, bytes } = upload;
    const record = await this.records.change(tenant, collection, id, (present) => {
      if (present && stands(present, embedder.id) && isDeepStrictEqual(present.metadata, metadata)) return null;
      const fresh = { status: 'queued', title: null, done: 0, total: null, problem: null, notices: [], embedder: null } as const;
      // No record of an earlier upload is kept once that is removed: the time tells its work and its events from those of this one.
      const take = present ? present.take + 1 : now;
      const createdAt = present && present.status !== 'deleted' ? present.createdAt : now;
      return {
        id,
        collection,
        name,
        mime,
        bytes: bytes.byteLength,
        sha256,
        metadata,
        ...fresh,
        notices: [],
        take,
        createdAt,
        updatedAt: now,
      };
    });
    if (record!.status !== 'ready') await this.log.publish([proposal(record!, tenant, actor, now)]);
    this.options.logger.info('document accepted', { document: id, bytes: bytes.byteLength, take: record!.take });
    return viewOf(record!);
  }

  /** The passages that a run would find. Throws COLLECTION_NOT_FOUND, VECTORS_UNAVAILABLE, PROVIDER_*, CALL_CANCELLED. */
  async search(tenant: string, collection: string, { query, limit, filters }: CollectionQuery, signal: AbortSignal): Promise<PassageList> {
    this.parts();
    await this.assertCollection(tenant, collection);
    const { passages: find } = this.options;
    if (!find) throw new Failure('VECTORS_UNAVAILABLE', 'This process cannot search collections.');
    const { passages, unknownKeys } = await find(
      { tenant, collection, query, limit: limit ?? defaultPassages, filters: filters ?? {} },
      signal,
    );
    return {
      object: 'list',
      data: passages.map(({ document, title, section, text, distance }) => ({
        object: 'passage',
        ...{ document, title, section, text },
        similarity: distance === null ? null : Math.round((1 - distance) * 10_000) / 10_000,
      })),
      notes: unknownKeys.map((key) => `No document has the filter "${key}".`),
    };
  }

  /** Throws COLLECTION_NOT_FOUND. */
  async list(tenant: string, collection: string, limit: number, after: string | null): Promise<DocumentList> {
    await this.assertCollection(tenant, collection);
    const data: DocumentView[] = [];
    for (const id of await this.records.ids(tenant, collection)) {
      if (after !== null && id <= after) continue;
      const record = await this.records.read(tenant, collection, id);
      if (!record || record.status === 'deleted') continue;
      if (data.length === limit) return { object: 'list', data, nextAfter: data.at(-1)!.id };
      data.push(viewOf(record));
    }
    return { object: 'list', data, nextAfter: null };
  }

  /** Throws COLLECTION_NOT_FOUND, DOCUMENT_NOT_FOUND. */
  async view(tenant: string, collection: string, id: string): Promise<DocumentView> {
    await this.assertCollection(tenant, collection);
    const record = await this.records.read(tenant, collection, id);
    if (!record || record.status === 'deleted') throw new Failure('DOCUMENT_NOT_FOUND');
    return viewOf(record);
  }

  /**
   * Marks the document first, so that running work stops and removes what it wrote; then removes its chunks, and the record at last: until then
   * the request can be repeated. Throws COLLECTION_NOT_FOUND, DOCUMENT_NOT_FOUND, VECTORS_UNAVAILABLE.
   */
  async remove(tenant: string, collection: string, id: string): Promise<void> {
    const { vectors, embedder } = this.parts();
    await this.assertCollection(tenant, collection);
    if (!(await this.records.read(tenant, collection, id))) throw new Failure('DOCUMENT_NOT_FOUND');
    await this.mark(tenant, collection, id);
    await vectors.delete({ tenant, collection: documentsCollection(collection, embedder) }, { where: { document: id } });
    await documentsChanged(this.state.caches, tenant);
    await this.records.discard(tenant, collection, id);
    this.options.logger.info('document removed', { document: id });
  }

  /** Removes every document of a collection. */
  async removeAll(tenant: string, collection: string): Promise<void> {
    const { vectors, embedder } = this.parts();
    const ids = await this.records.ids(tenant, collection);
    for (const id of ids) await this.mark(tenant, collection, id);
    await vectors.drop({ tenant, collection: documentsCollection(collection, embedder) });
    await documentsChanged(this.state.caches, tenant);
    for (const id of ids) await this.records.discard(tenant, collection, id);
  }

  private async mark(tenant: string, collection: string, id: string): Promise<void> {
    const updatedAt = await this.state.now();
    await this.records.change(tenant, collection, id, (present) =>
      present && present.status !== 'deleted' ? { ...present, status: 'deleted', problem: null, updatedAt } : null,
    );
  }
}

/** The same content under the same name is the same document. */
const documentId = (collection: string, name: string, sha256: string): string =>
  `doc_${createHash('sha256')
    .update(JSON.stringify([collection, name, sha256]))
    .digest('hex')
    .slice(0, 32)}`;

/** Whether the document needs no new work: it is ready or in progress. */
const stands = ({ status, embedder }: StoredDocument, present: string): boolean =>
  status !== 'deleted' && status !== 'failed' && (embedder === null || embedder === present);

function proposal(record: StoredDocument, tenant: string, actor: string, now: number): KnowledgeProposed {
  const { id: runId, take, collection, name, mime, sha256: blob, metadata } = record;
  const id = `${runId}/${take}`;
  return makeEvent(
    KnowledgeProposed,
    { id, runId, source: 'gateway', time: now, traceparent: traceparentFor({ id, runId }) },
    {
      kind: 'document',
      tenant,
      actor,
      text: '',
      about: runId,
      proposedAt: now,
      document: { collection, id: runId, name, mime, blob, metadata },
    },
  );
}

const viewOf = (record: StoredDocument): DocumentView => {
  const { id, collection, name, mime, bytes, metadata, title, done, total, problem, notices, createdAt, updatedAt } = record;
  const status = record.status as DocumentView['status'];
  const chunks = { done, total };
  return { object: 'document', id, collection, name, mime, bytes, metadata, status, title, chunks, problem, notices, createdAt, updatedAt };
};
