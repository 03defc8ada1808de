import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { growthRefusal, makeFolder } from '@conclave/ports';
import { Failure } from '@conclave/contracts';
import type { BlobRef, Blobs } from '@conclave/ports';

export interface FolderOptions {
  /** Created if it is missing. Processes that share bodies need the same folder. */
  readonly folder: string;
  /** Milliseconds for which a body is kept after it was last put. */
  readonly ttlMs: number;
  /** Milliseconds between two searches for expired bodies; default one hour. */
  readonly sweepMs?: number;
  /** Whether this process removes expired bodies; a process that only reads must not. Default true. */
  readonly removes?: boolean;
}

const hourMs = 3_600_000;
const nameOf = /^[0-9a-f]{64}$/;
const hashOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

/** Bodies as files, named by their hash. A file appears whole or not at all, and putting a body again restarts its retention. */
export class FolderBlobs implements Blobs {
  private sweeping: Promise<void> = Promise.resolve();
  private readonly timer: NodeJS.Timeout | null = null;

  private constructor(private readonly options: FolderOptions) {
    if (options.removes === false) return;
    const sweep = (): void => {
      this.sweeping = this.sweeping.then(() => this.sweep()).catch(() => undefined);
    };
    sweep();
    this.timer = setInterval(sweep, options.sweepMs ?? hourMs).unref();
  }

  /** Throws STORE_UNAVAILABLE or STORE_FULL when the folder cannot be created. */
  static async open(options: FolderOptions): Promise<FolderBlobs> {
    await doing('open', async () => makeFolder(options.folder, 0o700));
    return new FolderBlobs(options);
  }

  async put(body: Buffer): Promise<BlobRef> {
    const ref = { sha256: hashOf(body), bytes: body.byteLength };
    const copy = Buffer.from(body);
    const file = this.fileOf(ref.sha256);
    const part = `${file}.${randomUUID()}.part`;
    await doing('write', async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      try {
        const handle = await open(part, 'wx', 0o600);
        try {
          await handle.writeFile(copy);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(part, file);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    });
    return ref;
  }

  async get(ref: BlobRef): Promise<Buffer> {
    const context = { sha256: ref.sha256 };
    if (!nameOf.test(ref.sha256)) throw new Failure('BLOB_MISSING', undefined, { context });
    const body = await doing('read', () =>
      readFile(this.fileOf(ref.sha256)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      }),
    );
    if (body === null) throw new Failure('BLOB_MISSING', undefined, { context });
    if (body.byteLength !== ref.bytes || hashOf(body) !== ref.sha256) throw new Failure('BLOB_CORRUPT', undefined, { context });
    return body;
  }

  async close(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.sweeping;
  }

  private fileOf(sha256: string): string {
    return join(this.options.folder, sha256.slice(0, 2), sha256);
  }

  /** Removes bodies that are older than the retention, and parts that a process left when it died. */
  private async sweep(): Promise<void> {
    const { folder, ttlMs } = this.options;
    for (const some of await readdir(folder, { withFileTypes: true })) {
      if (!some.isDirectory() || !/^[0-9a-f]{2}$/.test(some.name)) continue;
      for (const name of await readdir(join(folder, some.name))) {
        const file = join(folder, some.name, name);
        const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
        const keptMs = name.endsWith('.part') ? hourMs : nameOf.test(name) ? ttlMs : Infinity;
        if (Date.now() - mtimeMs > keptMs) await rm(file, { force: true });
      }
    }
  }
}

/** Throws STORE_FULL, STORE_UNAVAILABLE. */
async function doing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const refusal = growthRefusal(error);
    const code = refusal?.code ?? ((error as NodeJS.ErrnoException).code || 'unknown');
    throw new Failure(refusal ? 'STORE_FULL' : 'STORE_UNAVAILABLE', `The folder of stored bodies cannot ${what} (${code}).`, {
      cause: error,
    });
  }
}
