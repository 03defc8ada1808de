import { indexedText, TextIndex } from '@conclave/ports';
import * as z from 'zod';
import type { CollectionIndex, KnownCollection } from './collection-index.js';
import { metadataFrom } from './stored-form.js';

const ids = z.array(z.string());
const listed = z.object({ ids });
const told = z.object({ ids, documents: z.array(z.string().nullable()), metadatas: z.array(z.record(z.string(), z.unknown()).nullable()) });

/** Ids, and texts, per page; the event loop does other work between two pages. */
const idsPerPage = 5_000;
const textsPerPage = 200;
/** Most texts of all mirrors of a process, about 1 kB each. The least recently used mirror is dropped first. */
const mostTexts = 250_000;

interface Mirror {
  readonly index: TextIndex;
  checkedAt: number;
  /** Whether something was written since the running refresh began. */
  changed: boolean;
  refreshing: Promise<void> | null;
}

/**
 * Full-text search over Chroma collections, which Chroma does not rank: an in-memory index of the stored texts for each collection that was
 * searched. Before a search, at most once per `refreshMs`, the ids show what other processes have added and removed.
 * A text that another process replaced under the same id is found by its old words until the mirror is rebuilt; chunks of documents are
 * never replaced, because their ids come from their content.
 */
export class TextMirrors {
  private readonly mirrors = new Map<string, Mirror>();

  constructor(
    private readonly collections: Pick<CollectionIndex, 'ask'>,
    private readonly refreshMs: number,
  ) {}

  /** The index of the collection, at most `refreshMs` old. Throws the errors of the requests to Chroma. */
  async of(known: KnownCollection, signal?: AbortSignal): Promise<TextIndex> {
    const mirror = this.mirrors.get(known.id) ?? { index: new TextIndex(), checkedAt: -Infinity, changed: false, refreshing: null };
    // Keeps the most recently used mirror last.
    this.mirrors.delete(known.id);
    this.mirrors.set(known.id, mirror);
    if (performance.now() - mirror.checkedAt >= this.refreshMs) {
      // Runs without the caller's signal, because other callers share it.
      mirror.refreshing ??= this.refresh(known, mirror).finally(() => (mirror.refreshing = null));
      await mirror.refreshing;
    }
    signal?.throwIfAborted();
    this.makeRoom(known.id);
    return mirror.index;
  }

  /** Call after this process wrote these records: their texts may have changed. */
  forget(known: KnownCollection, written: readonly string[]): void {
    const mirror = this.mirrors.get(known.id);
    if (!mirror) return;
    for (const id of written) mirror.index.remove(id);
    this.recheck(known);
  }

  /** Call after this process removed records of the collection. */
  recheck(known: KnownCollection): void {
    const mirror = this.mirrors.get(known.id);
    if (!mirror) return;
    mirror.checkedAt = -Infinity;
    mirror.changed = true;
  }

  private async refresh(known: KnownCollection, mirror: Mirror): Promise<void> {
    const { index } = mirror;
    const began = performance.now();
    mirror.changed = false;
    const present = new Set<string>();
    for (let offset = 0; ; offset += idsPerPage) {
      const page = listed.parse(await this.collections.ask(known, 'get', { include: [], limit: idsPerPage, offset }));
      for (const id of page.ids) present.add(id);
      if (page.ids.length < idsPerPage) break;
    }
    for (const id of [...index.ids()]) if (!present.has(id)) index.remove(id);
    const fresh = [...present].filter((id) => !index.has(id));
    for (let from = 0; from < fresh.length; from += textsPerPage) {
      const asked = { ids: fresh.slice(from, from + textsPerPage), include: ['documents', 'metadatas'] };
      const page = told.parse(await this.collections.ask(known, 'get', asked));
      page.ids.forEach((id, at) => index.put(id, indexedText(page.documents[at] ?? '', metadataFrom(page.metadatas[at]))));
    }
    mirror.checkedAt = mirror.changed ? -Infinity : began;
  }

  private makeRoom(kept: string): void {
    let texts = [...this.mirrors.values()].reduce((sum, { index }) => sum + index.size, 0);
    for (const [id, { index }] of this.mirrors) {
      if (texts <= mostTexts || id === kept) return;
      this.mirrors.delete(id);
      texts -= index.size;
    }
  }
}
