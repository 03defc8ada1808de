import { isUtf8 } from 'node:buffer';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { Failure } from '@conclave/contracts';
import { namedFirst, type DocumentReader, type Search, type SearchHit } from '@conclave/ports';
import { CorpusIndex, type IndexedFile } from './corpus-index.js';
import { nameExpression, withCode } from './code-hits.js';
import { filesIn, isText, leftOutOf, missingBy, type FolderListing } from './folder-files.js';
import { matchExpression } from './match-expression.js';

export interface CorpusOptions {
  /** Folder of documents, including subfolders. Links out of it are not followed. */
  readonly folder: string;
  /** Reads files that are neither Markdown nor plain text: HTML, PDF and Office documents. Without it they are left out. */
  readonly reader?: Pick<DocumentReader, 'read'>;
  /** File of the index; `:memory:` rebuilds it at each start. */
  readonly index: string;
  /** Shortest time in milliseconds between two scans of the folder; default 2,000, or 20 times as long as the last scan took to list it. */
  readonly refreshMs?: number;
  /**
   * Milliseconds that opening, and a query, waits for documents that are being read, counted from the beginning of their scan; they are read
   * on meanwhile. Default 10,000 and 2,000.
   */
  readonly patienceMs?: { readonly open: number; readonly query: number };
}

const mostHits = 50;
/** Hits ranked per hit returned, so that a document the query names can rise. */
const candidatesPerHit = 6;
/** Passages of source code among which definitions of a name in the query are looked for. */
const definitionsAmong = 100;
/** Documents that are read at once. */
const readAtOnce = 2;
/** What was read is written after so many documents or characters. */
const [documentsPerUpdate, charactersPerUpdate] = [50, 200_000];

/**
 * Full-text search over a folder of documents. Each query first picks up changed, new and deleted files. What has been read is found
 * while other documents are still being read, and stays in the index if the process ends meanwhile.
 */
export class CorpusSearch implements Search {
  readonly kind = 'corpus';
  private refreshedAt = -Infinity;
  private listingMs = 0;
  private scannedFrom = 0;
  private refreshing: Promise<void> | null = null;
  private closed = false;
  /** Files that could not be read, by path with the stamp: they are not tried again until they change. */
  private readonly unreadable = new Map<string, string>();
  private leftOut = '';
  /** Documents that the current scan has not read yet. */
  private waiting = 0;

  private constructor(
    private readonly options: CorpusOptions,
    private readonly index: CorpusIndex,
  ) {}

  /** Indexes the folder, or begins to if that takes long. Throws Failure SEARCH_UNAVAILABLE when the folder cannot be read. */
  static async open(options: CorpusOptions): Promise<CorpusSearch> {
    let search: CorpusSearch | null = null;
    try {
      search = new CorpusSearch(options, CorpusIndex.open(options.index));
      await search.refresh(options.patienceMs?.open ?? 10_000);
      return search;
    } catch (error) {
      await search?.close();
      throw unavailable(options.folder, error);
    }
  }

  get description(): string {
    if (this.closed) return basename(this.options.folder);
    const { size } = this.index;
    const parts = [
      `${size} ${size === 1 ? 'document' : 'documents'} in ${this.options.folder}`,
      ...(this.waiting === 0 ? [] : [`${this.waiting} still to be read`]),
      ...(this.unreadable.size === 0 ? [] : [`${this.unreadable.size} could not be read`]),
      ...(this.leftOut === '' ? [] : [this.leftOut]),
    ];
    return parts.join('; ');
  }

  async query({
    query,
    limit,
    signal,
  }: {
    readonly query: string;
    readonly limit: number;
    readonly signal: AbortSignal;
  }): Promise<readonly SearchHit[]> {
    signal.throwIfAborted();
    try {
      await this.refresh(this.options.patienceMs?.query ?? 2_000);
      signal.throwIfAborted();
      const expression = matchExpression(query);
      if (expression === null || limit < 1) return [];
      const most = Math.min(Math.floor(limit), mostHits);
      const found = (table: 'passage' | 'code'): readonly SearchHit[] =>
        namedFirst(this.index.find(expression, most * candidatesPerHit, table), query, ({ title }) => title);
      const names = nameExpression(query);
      const naming = names === null ? [] : this.index.find(names, definitionsAmong, 'code');
      return withCode({ documents: found('passage'), code: found('code'), naming }, query, most);
    } catch (error) {
      throw signal.aborted ? error : unavailable(this.options.folder, error);
    }
  }

  async contents(): Promise<string> {
    try {
      await this.refresh(this.options.patienceMs?.query ?? 2_000);
      return this.index.contents();
    } catch (error) {
      throw unavailable(this.options.folder, error);
    }
  }

  async health(): Promise<string | null> {
    if (this.closed) return 'The corpus search is closed.';
    try {
      await readdir(this.options.folder);
      return null;
    } catch (error) {
      return `The folder of documents cannot be read: ${(error as Error).message}`;
    }
  }

  close(): Promise<void> {
    this.closed = true;
    this.index.close();
    return Promise.resolve();
  }

  /**
   * Scans the folder at most once per `refreshMs`; concurrent queries share the scan. Resolves once it has lasted `patienceMs` even if
   * documents are still being read.
   */
  private async refresh(patienceMs: number): Promise<void> {
    if (this.closed) throw new Error('The corpus search is closed.');
    if (performance.now() - this.refreshedAt < (this.options.refreshMs ?? Math.max(2_000, 20 * this.listingMs))) return;
    this.refreshing ??= this.readChanges().finally(() => {
      this.refreshing = null;
    });
    const late = new AbortController();
    // A scan that fails after this time is made again by the next query, which then reports the error.
    try {
      await Promise.race([this.refreshing, elapsed(this.scannedFrom + patienceMs - performance.now(), late.signal)]);
    } finally {
      late.abort();
    }
  }

  /** Null for a document that cannot be read. */
  private async sourceOf({ path, stamp }: IndexedFile): Promise<string | null> {
    const { folder, reader } = this.options;
    this.unreadable.delete(path);
    try {
      const bytes = await readFile(join(folder, path));
      if (isText(path) && (reader === undefined || isUtf8Text(bytes))) return bytes.toString('utf8');
      const { title, text } = await reader!.read({ bytes, mime: isText(path) ? 'text/plain' : '', name: basename(path) });
      return isText(path) ? text : withTitle(title, text);
    } catch (error) {
      const missing = missingBy(error);
      if (missing === null && !(error instanceof Failure)) throw error;
      // A permission changes without the stamp: such a file is tried again.
      this.unreadable.set(path, missing === null ? stamp : '');
      return null;
    }
  }

  private async readChanges(): Promise<void> {
    this.scannedFrom = performance.now();
    const found = await filesIn(this.options.folder, this.options.reader !== undefined);
    this.listingMs = performance.now() - this.scannedFrom;
    if (this.closed) return;
    this.leftOut = leftOutOf(found);
    const known = new Map(this.index.files().map(({ path, stamp }) => [path, stamp]));
    const present = new Set(found.documents.map(({ path }) => path));
    for (const path of this.unreadable.keys()) if (!present.has(path)) this.unreadable.delete(path);
    await this.index.update(
      [],
      [...known.keys()].filter((path) => !present.has(path)),
    );
    await this.readDocuments(found.documents.filter(({ path, stamp }) => known.get(path) !== stamp && this.unreadable.get(path) !== stamp));
    if (!this.closed) this.refreshedAt = performance.now();
  }

  private async readDocuments(documents: FolderListing['documents']): Promise<void> {
    const left = documents.values();
    this.waiting = documents.length;
    let changed: (IndexedFile & { source: string })[] = [];
    let unreadable: string[] = [];
    let characters = 0;
    const write = async (): Promise<void> => {
      const [add, remove] = [changed, unreadable];
      [changed, unreadable, characters] = [[], [], 0];
      if (!this.closed) await this.index.update(add, remove);
    };
    const readOn = async (): Promise<void> => {
      for (const file of left) {
        const source = await this.sourceOf(file);
        if (this.closed) return;
        // A file that was readable before and no longer is has no content now.
        if (source === null) unreadable.push(file.path);
        else changed.push({ ...file, source });
        characters += source?.length ?? 0;
        this.waiting -= 1;
        if (changed.length >= documentsPerUpdate || characters >= charactersPerUpdate) await write();
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: readAtOnce }, readOn));
    this.waiting = 0;
    await write();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

const isUtf8Text = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

async function elapsed(ms: number, signal: AbortSignal): Promise<void> {
  await after(ms, undefined, { signal, ref: false }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** The text of a document as Markdown that names its title. */
function withTitle(title: string, text: string): string {
  const plain = title.replace(/\s+/g, ' ').trim();
  return /^#\s/.test(text) || plain === '' ? text : `---\ntitle: ${plain}\n---\n${text}`;
}

const unavailable = (folder: string, error: unknown): Failure =>
  error instanceof Failure
    ? error
    : new Failure('SEARCH_UNAVAILABLE', `The documents in ${folder} cannot be searched: ${(error as Error).message}`, { cause: error });
