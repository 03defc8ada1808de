import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textLines } from './text-lines.js';

/** A text with the key by which it is sorted. */
export interface Spooled {
  readonly order: string;
  readonly text: string;
}

const byOrder = (a: Spooled, b: Spooled): number => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0);

/**
 * Sorts more texts than fit into memory: full buffers are sorted and written to files of a folder that only this user can read, and the
 * files are merged at the end. No file is written if one buffer is enough. Texts contain no line feeds.
 */
export class SortedSpool {
  private held: Spooled[] = [];
  private bytes = 0;
  private folder: string | null = null;
  private readonly files: string[] = [];

  /** @param most Characters held in memory. */
  constructor(private readonly most: number) {}

  async add(one: Spooled): Promise<void> {
    this.held.push(one);
    this.bytes += one.order.length + one.text.length;
    if (this.bytes > this.most) await this.spill();
  }

  private async spill(): Promise<void> {
    const folder = this.folder ?? (await mkdtemp(join(tmpdir(), 'conclave-audit-')));
    this.folder = folder;
    const name = join(folder, String(this.files.length));
    const file = await open(name, 'wx', 0o600);
    try {
      for (const { order, text } of this.held.sort(byOrder)) await file.write(`${order}\t${text}\n`);
    } finally {
      await file.close();
    }
    this.files.push(name);
    this.held = [];
    this.bytes = 0;
  }

  /** Everything that was added, in order. */
  async *sorted(): AsyncGenerator<string> {
    const sources = [...this.files.map((name) => linesOf(name)), this.held.sort(byOrder).values()];
    const heads: { one: Spooled; source: (typeof sources)[number] }[] = [];
    for (const source of sources) {
      const { value, done } = await source.next();
      if (!done) heads.push({ one: value, source });
    }
    while (heads.length > 0) {
      let least = 0;
      for (let at = 1; at < heads.length; at += 1) if (byOrder(heads[at]!.one, heads[least]!.one) < 0) least = at;
      const { one, source } = heads[least]!;
      yield one.text;
      const { value, done } = await source.next();
      if (done) heads.splice(least, 1);
      else heads[least]!.one = value;
    }
  }

  async close(): Promise<void> {
    this.held = [];
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }
}

async function* linesOf(name: string): AsyncGenerator<Spooled, undefined> {
  for await (const line of textLines(createReadStream(name))) {
    const at = line.indexOf('\t');
    yield { order: line.slice(0, at), text: line.slice(at + 1) };
  }
}
