import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SearchHit } from '@conclave/ports';
import { CorpusSearch, type CorpusOptions } from '../search/corpus-search.js';
import { newFolder, removeFolder } from './folder.js';

/** A folder of documents, and the search over it that was opened last. */
export class SearchedFolder {
  readonly root = newFolder();
  readonly folder = join(this.root, 'documents');
  private opened: CorpusSearch | null = null;

  constructor() {
    mkdirSync(this.folder);
  }

  /** Writes a document. Returns its path. */
  put(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  async open(options: Partial<CorpusOptions> = {}): Promise<CorpusSearch> {
    return (this.opened = await CorpusSearch.open({ folder: this.folder, index: ':memory:', refreshMs: 0, ...options }));
  }

  get search(): CorpusSearch {
    return this.opened!;
  }

  hitsOf(query: string, limit = 5): Promise<readonly SearchHit[]> {
    return this.search.query({ query, limit, signal: new AbortController().signal });
  }

  async ask(query: string, limit = 5): Promise<readonly Pick<SearchHit, 'title' | 'url' | 'snippet'>[]> {
    return (await this.hitsOf(query, limit)).map(({ title, url, snippet }) => ({ title, url, snippet }));
  }

  async titles(query: string): Promise<readonly string[]> {
    return (await this.ask(query)).map(({ title }) => title);
  }

  async end(): Promise<void> {
    await this.opened?.close();
    removeFolder(this.root);
  }
}
