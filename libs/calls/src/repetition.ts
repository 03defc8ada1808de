import { unspacedScripts } from '@conclave/contracts';
import { NumberedRepetition } from './numbered-repetition.js';

/** Longest text whose repetition is noticed, in characters. */
const longestUnit = 2_000;
/** Characters that must be the same as before for a repetition to begin. */
const probe = 80;
/** The text is searched for a beginning repetition every so many characters: at fixed places, so that its chunks do not matter. */
const step = 128;
/** Most earlier places of the probe that are compared, so that a search stays cheap. */
const mostPlaces = 16;
/** Least number of times that a text must be repeated. */
const leastTimes = 6;
/** How many times longer text without words may be repeated: lists of zeros, rulers, encoded bytes. */
const wordless = 8;
/** The part of the limit that counts in JSON of a form. */
const formShare = 4;
/** Share of the limit from which repeated text is held back. */
const shownShare = 1 / 8;

const unspaced = new RegExp(`[${unspacedScripts}]`, 'gu');

/** Whether a repeated text is prose: it has at least two different words, or is only white space. */
export function isReadable(unit: string): boolean {
  if (unit.trim() === '') return true;
  if ((unit.match(unspaced)?.length ?? 0) * 2 > unit.length) return true;
  const words = unit.split(/\s+/).flatMap((part) => part.match(/\p{L}[\p{L}\p{M}'’]{0,24}/gu)?.slice(0, 3) ?? []);
  const letters = unit.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
  const spaces = unit.match(/\s/g)?.length ?? 0;
  // Encoded bytes have letters, but spaces only at the ends of their lines.
  return letters * 3 > unit.length && spaces * 25 > unit.length && new Set(words.map((word) => word.toLowerCase())).size > 1;
}

/** Whether a repeated text is only citations, such as `[2] [2] [2]`, wherever it begins. */
export const isCitations = (unit: string): boolean =>
  /^[\s\d,[\]]+$/.test(unit) && /\[[1-9]\d{0,2}\]\s*\[[1-9]\d{0,2}\]/.test(unit.repeat(3).slice(0, 400)) && !/\d\s*,/.test(unit);

interface Followed {
  /** The repeated text, from the place where its second occurrence begins. */
  readonly unit: string;
  /** Characters up to the end of its first occurrence. */
  readonly firstEnd: number;
  /** How many characters have repeated it so far. */
  repeated: number;
  /** Characters that must repeat it until it counts. */
  readonly limit: number;
}

/**
 * Notices a text that repeats itself without end, in a stream of any length with bounded memory: the same characters (at most 2,000) are
 * repeated for `limit` characters and at least six times. The limit is eight times as high for text without words. Once an eighth of the
 * limit is repeated, further repetitions are held back until they end, so that viewers see little of them. Items of a numbered list are
 * compared without their numbers; those are not held back.
 */
export class Repetition {
  /** Characters that were repeated when the limit was reached; 0 before. */
  found = 0;
  /** Of all characters, those up to the end of the first occurrence of what is repeated; only once it is found. */
  keep = 0;
  private seen = 0;
  /** The last characters before `fresh`. Both are joined rarely, because that is most of the cost. */
  private tail = '';
  private fresh = '';
  private held = '';
  private following: Followed | null = null;
  private readonly list = new NumberedRepetition();

  /**
   * `limit`: in characters; 0 never finds anything. `isForm`: the text is JSON of a form, in which equal entries of a list mean nothing:
   * whatever is repeated, a quarter of the limit is enough.
   */
  constructor(
    private readonly limit: number,
    private readonly isForm = false,
  ) {}

  /** Returns the text that may be shown now; nothing after the limit was reached. */
  push(text: string): string {
    if (this.limit === 0) return text;
    let shown = '';
    for (let at = 0; at < text.length && this.found === 0;) {
      const end = text.indexOf('\n', at);
      const line = text.slice(at, end < 0 ? text.length : end + 1);
      shown += this.pushPart(line);
      if (this.found === 0) this.lookAtList(line);
      at += line.length;
    }
    return shown;
  }

  private lookAtList(line: string): void {
    const list = this.list.push(line);
    if (!list || list.times < leastTimes || list.repeated < this.limit) return;
    if (list.repeated < this.limit * wordless && !isReadable(list.unit())) return;
    this.found = list.repeated;
    this.keep = list.firstEnd;
  }

  private pushPart(text: string): string {
    let shown = '';
    let at = 0;
    while (at < text.length && this.found === 0) {
      if (this.following) {
        const from = at;
        at = this.follow(this.following, text, at);
        shown += this.show(text.slice(from, at));
        continue;
      }
      const to = Math.min(text.length, at + step - (this.seen % step));
      const part = text.slice(at, to);
      this.append(part);
      shown += part;
      at = to;
      if (this.seen % step === 0) this.following = this.beginning();
    }
    return shown;
  }

  /** Returns the text that was held back, at the end; if it repeats itself, only up to the end of a line or a sentence. */
  end(): string {
    const held = this.held;
    this.held = '';
    if (this.found === 0) return held;
    const end = /\n|[.!?](?=\s)|[。！？]/.exec(held.slice(0, longestUnit));
    return end ? held.slice(0, end.index + end[0].length) : '';
  }

  private append(part: string): void {
    this.seen += part.length;
    this.fresh += part;
    if (this.fresh.length >= 2 * longestUnit) this.join();
  }

  private join(): string {
    this.tail = (this.tail + this.fresh).slice(-2 * longestUnit);
    this.fresh = '';
    return this.tail;
  }

  /** Consumes the characters that repeat the followed text; returns the position after them. */
  private follow(followed: Followed, text: string, from: number): number {
    const { unit, limit } = followed;
    let at = from;
    while (at < text.length && followed.repeated < limit && text[at] === unit[followed.repeated % unit.length]) {
      followed.repeated += 1;
      at += 1;
    }
    this.append(text.slice(from, at));
    if (followed.repeated >= limit) {
      this.found = followed.repeated;
      this.keep = followed.firstEnd;
    } else if (at < text.length) this.following = null;
    return at;
  }

  /** Holds repeated text back, or returns it together with the text that was held before. */
  private show(text: string): string {
    if (this.following) {
      const { repeated, limit } = this.following;
      const free = Math.max(0, Math.ceil(limit * shownShare) - (repeated - text.length));
      this.held += text.slice(free);
      return text.slice(0, free);
    }
    const shown = this.held + text;
    this.held = '';
    return shown;
  }

  /** The text that is repeated at the end: at least once, and for at least as long as the probe. */
  private beginning(): Followed | null {
    const tail = this.join();
    const end = tail.length;
    const last = tail.slice(-probe);
    let place = tail.lastIndexOf(last, end - probe - 1);
    for (let tried = 0; place >= 0 && tried < mostPlaces; tried += 1) {
      const length = end - probe - place;
      if (length > longestUnit) return null;
      let repeated = probe;
      while (repeated < end - length && tail[end - 1 - repeated] === tail[end - 1 - repeated - length]) repeated += 1;
      if (repeated >= length) {
        // Turned so that its start is where the text now continues.
        const turned = tail.slice(end - length);
        const offset = repeated % length;
        const unit = turned.slice(length - offset) + turned.slice(0, length - offset);
        const least = this.isForm ? this.limit / formShare : isReadable(unit) || isCitations(unit) ? this.limit : this.limit * wordless;
        return { unit, firstEnd: this.seen - repeated, repeated, limit: Math.max(least, leastTimes * length) };
      }
      if (place === 0) return null;
      place = tail.lastIndexOf(last, place - 1);
    }
    return null;
  }
}
