import { putBlob } from '../blobs.js';
import type { Store, Tick } from '../database/database.js';
import { bytesOf } from '../database/sql.js';
import { Kept } from '../kept.js';

interface Seen {
  /** Null for a text that was seen once: most of those never occur again. */
  readonly sha256: string | null;
  /** When its retention was last restarted. */
  readonly at: number;
}

/** A shorter text would hardly be longer than a reference to it; a longer one is not worth the memory. */
const [shortest, longest] = [200, 16_384];
const mostSeen = 128;
/** Much less than the day by which bodies outlive the records that refer to them. */
const refreshMs = 60 * 60 * 1000;

/** Texts that records of calls repeat word for word, such as system prompts: each is stored once in the table of blobs, as JSON. */
export class StandingTexts {
  private readonly seen = new Kept<Seen>(mostSeen);

  constructor(
    private readonly database: Store,
    private readonly now: () => number,
  ) {}

  /** The hash under which the text is stored from this write on; null if it was seen for the first time, or is too short or too long. */
  standing(tick: Tick, text: string): string | null {
    if (text.length < shortest || text.length > longest) return null;
    const now = this.now();
    const seen = this.seen.get(text);
    if (seen?.sha256 && now - seen.at < refreshMs) return seen.sha256;
    const sha256 = seen ? putBlob(tick, Buffer.from(JSON.stringify(text)), now).sha256 : null;
    tick.afterWrite(() => this.seen.set(text, { sha256, at: now }));
    return sha256;
  }

  forget(): void {
    this.seen.forgetAll();
  }

  /** The text as JSON; null if it has expired. */
  of(sha256: string): Buffer | null {
    const row = this.database.read((sql) => sql.get<{ body: unknown }>('SELECT body FROM blob WHERE sha256 = ?', sha256));
    return row ? bytesOf(row.body) : null;
  }
}
