import { Inject, Injectable } from '@nestjs/common';
import {
  documentSetting,
  collectionsSetting,
  Failure,
  isOutage,
  isUpstreamOutage,
  StoredCollections,
  StoredDocument,
  type KnowledgeProposed,
} from '@conclave/contracts';
import { LOGGER, METRICS, type Logger, type Metrics } from '@conclave/platform';
import {
  BLOBS,
  defer,
  DOCUMENTS,
  documentsChanged,
  documentsCollection,
  EMBEDDER,
  STATE,
  VECTORS,
  type Blobs,
  type DeadReason,
  type DocumentReader,
  type Embedder,
  type HandlerOutcome,
  type StateStore,
  type Vectors,
  type VectorScope,
} from '@conclave/ports';
import { type Chunk, chunksOf, embeddedText, storedText } from './documents/chunks.js';

/** Chunks embedded and stored together; progress is saved after each batch. */
const batch = 32;
/** Most chunks of one document: about twenty million characters. */
const mostChunks = 35_000;
/** Milliseconds before an unavailable server is tried again. */
const awayMs = 2_000;
/** Most tries to write a record that others write concurrently. */
const tries = 20;

type Proposed = NonNullable<KnowledgeProposed['data']['document']>;

interface Work {
  readonly tenant: string;
  readonly document: Proposed;
  readonly take: number;
  readonly scope: VectorScope;
}

/** What the record of a document says after its delivery became a dead letter. */
const problemOfDead: Readonly<Record<DeadReason, string>> = {
  killed_process:
    'Processes died again and again while they were reading it. Send it again; if that happens again, split it, or send it in another format.',
  failed:
    'Reading it failed again and again because of a defect; the log of graph-ingest has the error. Send it again once that is mended.',
  undecodable: 'The record that asked for it could not be read. Send it again.',
};

/** The document was removed, uploaded again or given up, so this work ends; a new upload has its own work. */
class Gone extends Error {
  constructor(readonly why: 'removed' | 'superseded' | 'failed') {
    super(why);
  }
}

/**
 * Reads an uploaded document, cuts it into chunks, embeds and stores them in batches. The record contains the progress, so that another
 * process can continue. While the vectors or the embedder are unavailable, the work waits in the log; an unreadable document fails with a
 * reason. Nothing is dead-lettered, and a document that is removed in the meantime leaves nothing behind.
 */
@Injectable()
export class DocumentIngest {
  constructor(
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings' | 'caches' | 'now'>,
    @Inject(BLOBS) private readonly blobs: Blobs,
    @Inject(DOCUMENTS) private readonly reader: DocumentReader | null,
    @Inject(VECTORS) private readonly vectors: Vectors | null,
    @Inject(EMBEDDER) private readonly embedder: Embedder | null,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(METRICS) private readonly metrics: Pick<Metrics, 'count'>,
  ) {}

  /** `redriven`: a person wants a document that was given up to be read again. */
  async ingest(event: KnowledgeProposed, signal: AbortSignal, redriven = false): Promise<HandlerOutcome> {
    const { document } = event.data;
    if (!document) return [];
    const { embedder, vectors } = this;
    const work = this.workOf(event, document);
    try {
      const found = await this.open(work);
      const record = redriven && found.status === 'failed' ? await this.reopen(work) : found;
      if (record.status === 'ready' || record.status === 'failed') return [];
      if (!this.reader || !vectors || !embedder)
        throw new Failure('VECTORS_UNAVAILABLE', 'This installation has no vector store: set `stores.chroma`.', {
          context: { configured: false },
        });
      await this.work(work, record, { reader: this.reader, vectors, embedder }, signal);
      return [];
    } catch (error) {
      return this.endOf(work, error, signal);
    }
  }

  /**
   * Ends a document whose record became a dead letter. A document that is ready stays ready: a proposal may be on the log several times, and
   * another record of it, or this one right before its process died, has done the work.
   */
  async dead(event: KnowledgeProposed, reason: DeadReason): Promise<void> {
    const { document } = event.data;
    if (!document) return;
    const work = this.workOf(event, document);
    try {
      const { status } = await this.open(work);
      if (status === 'ready') return;
      if (status !== 'failed') {
        await this.update(work, { status: 'failed', done: 0, problem: problemOfDead[reason] });
        this.metrics.count('documents_ingested_total', { outcome: 'failed' });
      }
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
      if (error.why === 'superseded') return;
    }
    // Later than the mark: vectors that do not answer must not hide what happened. A new upload removes what they keep.
    await this.forget(work);
  }

  private workOf(event: KnowledgeProposed, document: Proposed): Work {
    const { tenant } = event.data;
    const collection = this.embedder ? documentsCollection(document.collection, this.embedder) : '';
    return { tenant, document, take: Number(event.id.split('/').at(-1)), scope: { tenant, collection } };
  }

  private async work(
    work: Work,
    record: StoredDocument,
    { reader, vectors, embedder }: { readonly reader: DocumentReader; readonly vectors: Vectors; readonly embedder: Embedder },
    signal: AbortSignal,
  ): Promise<void> {
    const { document } = work;
    await this.update(work, { status: 'reading', problem: null });
    const bytes = await this.blobs.get({ sha256: record.sha256, bytes: record.bytes });
    const read = await reader.read({ bytes, mime: document.mime, name: document.name, signal });
    const chunks = await chunksOf(document.id, read.text, { name: document.name, mime: read.mime }, mostChunks);
    if (chunks.length === 0) throw new Failure('DOCUMENT_UNREADABLE', 'It contains no text.');
    if (chunks.length > mostChunks) throw new Failure('DOCUMENT_TOO_LARGE', `It has more than ${mostChunks} parts.`);
    // Stored progress counts only for the same embedder and the same number of chunks.
    const known = record.embedder === embedder.id && record.total === chunks.length ? record.done : 0;
    if (known === 0) await this.forget(work);
    const title = read.title.slice(0, 300);
    const about = {
      status: 'embedding',
      title,
      total: chunks.length,
      embedder: embedder.id,
      notices: read.notices.slice(0, 20),
      problem: null,
    } as const;
    await this.update(work, { ...about, notices: [...about.notices], done: known });
    for (let from = known; from < chunks.length; from += batch) {
      signal.throwIfAborted();
      const part = chunks.slice(from, from + batch);
      const found = await embedder.embed(part.map(embeddedText), { signal });
      if (from === known) await vectors.create(work.scope, found[0]!.length);
      await vectors.upsert(
        work.scope,
        part.map((chunk, at) => recordOf(work, chunk, from + at, found[at]!, title)),
      );
      await this.update(work, { done: from + part.length });
    }
    // Before the record says ready, so that questions asked afterwards miss the cache.
    await documentsChanged(this.state.caches, work.tenant);
    await this.update(work, { status: 'ready' });
    this.metrics.count('documents_ingested_total', { outcome: 'ready' });
    this.logger.info('A document was read and embedded.', { document: document.id, chunks: chunks.length });
  }

  /** Ends or postpones a document after a failure. Outages of our own stores pass through to the transport, which waits for them. */
  private async endOf(work: Work, error: unknown, signal: AbortSignal): Promise<HandlerOutcome> {
    const { id } = work.document;
    if (error instanceof Gone) return error.why === 'superseded' ? [] : this.whenThere(() => this.withdraw(work));
    if (signal.aborted) return defer(1);
    const failure = error instanceof Failure ? error : new Failure('INTERNAL', undefined, { cause: error });
    if (isOutage(failure) && failure.code !== 'BLOB_MISSING') throw failure;
    if (!(error instanceof Failure)) this.logger.error('A document could not be processed.', { document: id, error });
    if (waits(failure)) {
      // Without its collection none of its chunks exist.
      const lost = failure.code === 'COLLECTION_NOT_FOUND' ? { done: 0 } : {};
      const outcome = await this.update(work, { ...lost, problem: `Waits: ${failure.message}` }).catch(ignoreGone);
      this.logger.debug('A document waits.', { document: id, code: failure.code });
      return outcome === 'gone' ? [] : defer(failure.options.retryAfterMs ?? awayMs);
    }
    const problem =
      failure.code === 'BLOB_MISSING' ? 'Its bytes are no longer stored. Send the document again.' : failure.message.slice(0, 1_000);
    this.metrics.count('documents_ingested_total', { outcome: 'failed' });
    this.logger.warn('A document cannot be used.', { document: id, code: failure.code });
    return this.whenThere(async () => {
      if (this.vectors && this.embedder) await this.forget(work);
      await this.update(work, { status: 'failed', done: 0, problem }).catch(ignoreGone);
    });
  }

  private async whenThere(act: () => Promise<void>): Promise<HandlerOutcome> {
    try {
      await act();
      return [];
    } catch (error) {
      if (error instanceof Failure && error.code === 'VECTORS_UNAVAILABLE') return defer(awayMs);
      throw error;
    }
  }

  /** Removes every chunk of the document. */
  private async forget({ scope, document }: Work): Promise<void> {
    if (!this.vectors || scope.collection === '') return;
    await this.vectors.delete(scope, { where: { document: document.id } });
  }

  /** Removes the chunks that were written after the document was removed, and the answers of runs that have found them. */
  private async withdraw(work: Work): Promise<void> {
    await this.forget(work);
    await documentsChanged(this.state.caches, work.tenant);
  }

  /** The document's record. Throws Gone. */
  private async open(work: Work): Promise<StoredDocument> {
    const { tenant, document, take } = work;
    const stored = await this.state.settings.read(documentSetting(tenant, document.collection, document.id));
    const record = stored ? StoredDocument.parse(stored.value) : null;
    const kept = StoredCollections.safeParse((await this.state.settings.read(collectionsSetting(tenant)))?.value);
    const isCollection = kept.success && kept.data.collections.some(({ name }) => name === document.collection);
    if (!record || record.status === 'deleted' || !isCollection) throw new Gone('removed');
    if (record.take !== take) throw new Gone('superseded');
    return record;
  }

  /** Queues a document again that was given up. Throws Gone. */
  private async reopen(work: Work): Promise<StoredDocument> {
    await this.update(work, { status: 'queued', done: 0, problem: null }, true);
    this.logger.info('A document that was given up is read again.', { document: work.document.id });
    return this.open(work);
  }

  /** Throws Gone if the document was removed, uploaded again or, unless it is to be `revived`, given up by another delivery of its proposal. */
  private async update({ tenant, document, take }: Work, change: Partial<StoredDocument>, revived = false): Promise<'written'> {
    const name = documentSetting(tenant, document.collection, document.id);
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const stored = await this.state.settings.read(name);
      const record = stored ? StoredDocument.parse(stored.value) : null;
      if (!stored || !record || record.status === 'deleted') throw new Gone('removed');
      if (record.take !== take) throw new Gone('superseded');
      if (record.status === 'failed' && !revived) throw new Gone('failed');
      if (Object.entries(change).every(([key, value]) => JSON.stringify(record[key as keyof StoredDocument]) === JSON.stringify(value)))
        return 'written';
      const next: StoredDocument = { ...record, ...change, updatedAt: await this.state.now() };
      if (await this.state.settings.write(name, stored.version, next)) return 'written';
    }
    throw new Failure('STORE_UNAVAILABLE', 'The record of a document changed too often at the same time.');
  }
}

/** Whether to wait: a missing vector collection and outages of the vector and embedding servers are temporary. */
function waits(failure: Failure): boolean {
  const { code, options } = failure;
  if (code === 'COLLECTION_NOT_FOUND') return true;
  if (code === 'VECTORS_UNAVAILABLE') return options.context?.['configured'] !== false;
  return isUpstreamOutage(failure);
}

function ignoreGone(error: unknown): 'gone' {
  if (error instanceof Gone) return 'gone';
  throw error;
}

const recordOf = ({ document }: Work, chunk: Chunk, n: number, vector: Float32Array, title: string) => ({
  id: chunk.id,
  vector,
  text: storedText(chunk),
  metadata: {
    ...document.metadata,
    document: document.id,
    collection: document.collection,
    name: document.name,
    title,
    heading: chunk.headings.join(' / ').slice(0, 1_000),
    n,
  },
});
