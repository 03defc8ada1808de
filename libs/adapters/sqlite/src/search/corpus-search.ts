import type { Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { Failure } from '@conclave/contracts';
import { namedFirst, type DocumentReader, type Search, type SearchHit } from '@conclave/ports';
import { CorpusIndex, type IndexedFile } from './corpus-index.js';
import { matchExpression } from './match-expression.js';

export interface CorpusOptions {
  /** Folder of documents, including subfolders. Links out of it are not followed. */
  readonly folder: string;
  /** Reads files that are neither Markdown nor plain text: HTML, PDF and Office documents. Without it they are left out. */
  readonly reader?: Pick<DocumentReader, 'read'>;
  /** File of the index; `:memory:` rebuilds it at each start. */
  readonly index: string;
  /** Shortest time in milliseconds between two scans of the folder; default 2,000. */
  readonly refreshMs?: number;
}

/** Size limits of a text, and of a document for the reader. */
const [largestFileBytes, largestReadBytes] = [8 * 1024 * 1024, 20 * 1024 * 1024];
const isText = (name: string): boolean => /\.(?:md|markdown|txt|csv|tsv)$/i.test(name);
const isRead = (name: string): boolean => /\.(?:html?|pdf|docx|xlsx|pptx)$/i.test(name);
const mostHits = 50;
/** Hits ranked per hit returned, so that a document the query names can rise. */
const candidatesPerHit = 6;

/** Full-text search over a folder of documents. Each query first picks up changed, new and deleted files. */
export class CorpusSearch implements Search {
  readonly kind = 'corpus';
  private refreshedAt = -Infinity;
  private refreshing: Promise<void> | null = null;
  private closed = false;
  /** Files that could not be read, by path with the stamp: they are not tried again until they change. */
  private readonly unreadable = new Map<string, string>();

  private constructor(
    private readonly options: CorpusOptions,
    private readonly index: CorpusIndex,
  ) {}

  /** Indexes the folder before it resolves. Throws Failure SEARCH_UNAVAILABLE when the folder cannot be read. */
  static async open(options: CorpusOptions): Promise<CorpusSearch> {
    let search: CorpusSearch | null = null;
    try {
      search = new CorpusSearch(options, CorpusIndex.open(options.index));
      await search.refresh();
      return search;
    } catch (error) {
      await search?.close();
      throw unavailable(options.folder, error);
    }
  }

  get description(): string {
    if (this.closed) return basename(this.options.folder);
    const { size } = this.index;
    const left = this.unreadable.size;
    return `${size} ${size === 1 ? 'document' : 'documents'} in ${this.options.folder}${left === 0 ? '' : `; ${left} could not be read`}`;
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
      await this.refresh();
      signal.throwIfAborted();
      const expression = matchExpression(query);
      if (expression === null || limit < 1) return [];
      const most = Math.min(Math.floor(limit), mostHits);
      return namedFirst(this.index.find(expression, most * candidatesPerHit), query, ({ title }) => title).slice(0, most);
    } catch (error) {
      throw signal.aborted ? error : unavailable(this.options.folder, error);
    }
  }

  async contents(): Promise<string> {
    try {
      await this.refresh();
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

  /** Scans the folder at most once per `refreshMs`; concurrent queries share the scan. */
  private refresh(): Promise<void> {
    if (this.closed) return Promise.reject(new Error('The corpus search is closed.'));
    if (performance.now() - this.refreshedAt < (this.options.refreshMs ?? 2000)) return Promise.resolve();
    this.refreshing ??= this.readChanges().finally(() => {
      this.refreshing = null;
    });
    return this.refreshing;
  }

  /** Null for a document that cannot be read. */
  private async sourceOf({ path, stamp }: IndexedFile): Promise<string | null> {
    const file = join(this.options.folder, path);
    if (isText(path)) return readFile(file, 'utf8');
    try {
      const { title, text } = await this.options.reader!.read({ bytes: await readFile(file), mime: '', name: basename(path) });
      this.unreadable.delete(path);
      return withTitle(title, text);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.unreadable.set(path, stamp);
      return null;
    }
  }

  private async readChanges(): Promise<void> {
    const present = await documentsIn(this.options.folder, this.options.reader !== undefined);
    const known = new Map(this.index.files().map(({ path, stamp }) => [path, stamp]));
    const changed: (IndexedFile & { source: string })[] = [];
    for (const file of present) {
      if (known.get(file.path) === file.stamp || this.unreadable.get(file.path) === file.stamp) continue;
      const source = await this.sourceOf(file);
      if (source !== null) changed.push({ ...file, source });
    }
    // A file that was readable before and no longer is has no content now.
    const paths = new Set(present.filter(({ path, stamp }) => this.unreadable.get(path) !== stamp).map(({ path }) => path));
    for (const path of this.unreadable.keys()) if (!present.some((file) => file.path === path)) this.unreadable.delete(path);
    if (this.closed) return;
    this.index.update(
      changed,
      [...known.keys()].filter((path) => !paths.has(path)),
    );
    this.refreshedAt = performance.now();
  }
}

/** The text of a document as Markdown that names its title. */
function withTitle(title: string, text: string): string {
  const plain = title.replace(/\s+/g, ' ').trim();
  return /^#\s/.test(text) || plain === '' ? text : `---\ntitle: ${plain}\n---\n${text}`;
}

async function documentsIn(folder: string, hasReader: boolean): Promise<readonly IndexedFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && !entry.name.startsWith('.') && (isText(entry.name) || (hasReader && isRead(entry.name))),
  );
  const documents = await Promise.all(
    files.map(async (entry): Promise<IndexedFile | null> => {
      const path = join(entry.parentPath, entry.name);
      const found = await statOf(path);
      if (!found || found.size > (isText(entry.name) ? largestFileBytes : largestReadBytes)) return null;
      return { path: relative(folder, path).split(sep).join('/'), stamp: `${found.mtimeMs}:${found.size}` };
    }),
  );
  return documents.filter((document) => document !== null);
}

/** Null for a file that was deleted since the folder was listed. */
async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const unavailable = (folder: string, error: unknown): Failure =>
  error instanceof Failure
    ? error
    : new Failure('SEARCH_UNAVAILABLE', `The documents in ${folder} cannot be searched: ${(error as Error).message}`, { cause: error });
