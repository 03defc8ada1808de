import { createHash, type Hash } from 'node:crypto';
import { type AuditHead, AuditLine, AuditSeal } from '@conclave/contracts';
import { type AuditKey, isSignedBy } from './audit-key.js';

/** The content of a line before it is chained. */
export type AuditEntry = Omit<AuditLine, 'seq' | 'prev' | 'hash' | 'check'>;
/** What was requested of an export. */
export type AuditScope = Pick<AuditHead, 'tenant' | 'run' | 'since' | 'until' | 'exported_at' | 'exported_by'>;

const start = '0'.repeat(64);
export const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

const hashOf = (line: Omit<AuditLine, 'hash' | 'check'>): string =>
  sha256(
    JSON.stringify([
      ...[line.prev, line.seq, line.place, line.appended_at, line.made_at],
      ...[line.id, line.type, line.source, line.run, line.body_sha256],
    ]),
  );
const checkOf = ({ hash, tenant, body, data }: Omit<AuditLine, 'check'>): string => sha256(JSON.stringify([hash, tenant, body, data]));

/** Chains entries in the order given. */
export class AuditChain {
  private count = 0;
  private prev = start;
  private first: string | null = null;
  private last: string | null = null;
  private readonly content: Hash = createHash('sha256');

  /** Returns the entry as a line, without its line feed. */
  line(entry: AuditEntry): string {
    const open = { seq: this.count + 1, prev: this.prev, ...entry };
    const chained = { ...open, hash: hashOf(open) };
    const { seq, prev, hash } = chained;
    const check = checkOf(chained);
    this.count = seq;
    this.prev = hash;
    this.first ??= entry.appended_at;
    this.last = entry.appended_at;
    this.content.update(check);
    return JSON.stringify({ seq, prev, hash, check, ...entry } satisfies AuditLine);
  }

  /** The last line, signed. Nothing is chained after it. */
  seal(scope: AuditScope, key: AuditKey): string {
    const { count, first, last, prev: hash } = this;
    const head: AuditHead = { format: 1, count, first, last, hash, content: this.content.digest('hex'), ...scope };
    return JSON.stringify({ head, public_key: key.publicKey, signature: key.sign(JSON.stringify(head)) } satisfies AuditSeal);
  }
}

/** The result of checking an export. */
export type AuditVerdict =
  | { readonly whole: true; readonly head: AuditHead; readonly publicKey: string }
  /** `line` is the number of the first line that differs from what was written, or the one after the last if the end is missing. */
  | { readonly whole: false; readonly line: number; readonly why: string };

/**
 * Reads an export line by line and names the first line that was changed. With a key, only a head signed with it is valid; without one,
 * anybody who can rewrite the file can also sign it again.
 */
export async function verifyAudit(lines: AsyncIterable<string> | Iterable<string>, publicKey: string | null): Promise<AuditVerdict> {
  let number = 0;
  let prev = start;
  let seal: AuditSeal | null = null;
  let [first, last]: (string | null)[] = [null, null];
  const content = createHash('sha256');
  const broken = (why: string, line = number): AuditVerdict => ({ whole: false, line, why });
  for await (const text of lines) {
    if (text === '') continue;
    number += 1;
    if (seal) return broken('a line follows the head, which must be the last line of an export.');
    const value = parsed(text);
    const asSeal = AuditSeal.safeParse(value);
    if (asSeal.success) {
      if (JSON.stringify(asSeal.data) !== text) return broken(rewritten);
      seal = asSeal.data;
      continue;
    }
    const line = AuditLine.safeParse(value);
    if (!line.success)
      return broken(value === undefined ? 'it is not JSON: it was cut or edited.' : 'it is not a line of an exported audit.');
    const why = faultOf(line.data, number, prev) ?? (JSON.stringify(line.data) === text ? null : rewritten);
    if (why) return broken(why);
    prev = line.data.hash;
    first ??= line.data.appended_at;
    last = line.data.appended_at;
    content.update(line.data.check);
  }
  if (!seal) return broken('the signed head is missing: the end of the file was cut off.', number + 1);
  const { head } = seal;
  const count = number - 1;
  if (publicKey !== null && seal.public_key !== publicKey) return broken(`the head is signed by another key (${seal.public_key}).`);
  if (!isSignedBy(seal.public_key, JSON.stringify(head), seal.signature))
    return broken('the head was edited: its signature does not match.');
  if (head.count > count)
    return broken(`the last ${head.count - count} of ${head.count} lines are missing: they were cut off before the head.`, count + 1);
  if (head.count < count) return broken(`the head counts ${head.count} lines: this one and those after it were added.`, head.count + 1);
  if (head.hash !== prev || head.first !== first || head.last !== last || head.content !== content.digest('hex'))
    return broken('the head belongs to other lines: it was taken from another export, or every line was rewritten.');
  return { whole: true, head, publicKey: seal.public_key };
}

/** Of a member that is there twice the hashes cover only the last one, and programs that look for text may show the other. */
const rewritten = 'its JSON was written anew: a member is there twice, or white space, escapes or the order of its members were changed.';

function faultOf(line: AuditLine, number: number, prev: string): string | null {
  if (line.seq !== number)
    return line.seq > number
      ? `it is line ${line.seq} of the export: ${line.seq - number === 1 ? 'a line' : `${line.seq - number} lines`} before it were removed or moved.`
      : `it is line ${line.seq} of the export: it was moved or written twice.`;
  if (line.prev !== prev) return 'it does not follow the line before it.';
  if (line.hash !== hashOf(line)) return 'its record was edited: its hash does not match.';
  if (line.check !== checkOf(line)) return 'its content was edited: its check does not match.';
  if (line.body === 'plain' && line.body_sha256 !== sha256(JSON.stringify(line.data)))
    return 'its data is not the body on the log: the hash of the body does not match.';
  return null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
