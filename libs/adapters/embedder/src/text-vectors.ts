import type { GermanWords } from './german-words.js';
import { isEnglishStopWord, isGermanStopWord, isStopWord, stemOf, wordsOf } from './reading.js';
import type { WordTable } from './word-table.js';

/** Numbers after those of the table, for the spelling of words. */
const hashed = 155;
/** Weight of the spelling of a known word, beside its meaning. */
const spelling = 0.2;
/** Weight of the spelling of an unknown word: a name, a number, a word of another language. */
const unknownSpelling = 0.8;
/** Constant of smooth inverse frequency (Arora, Liang, Ma 2017); frequencies are estimated from ranks by Zipf's law. */
const frequencyConstant = 1e-3;
/**
 * Square of a last number that all vectors share. It divides every distance by 1 + this and keeps their order. Without it most paraphrases
 * of a question would be farther apart than the 0.15 of sentence embedders, and embedders would need different thresholds.
 */
const shared = 0.4;
/** Words with a rank below this occur in every English text. */
const commonRank = 12_000;

const weightOf = (rank: number): number => frequencyConstant / (frequencyConstant + 1 / ((rank + 1) * 12.3));

/** Computes vectors of texts: the weighted sum of the meanings and spellings of their words. */
export class TextVectors {
  readonly dimension: number;

  constructor(
    private readonly table: WordTable,
    private readonly german: GermanWords,
  ) {
    this.dimension = table.dimension + hashed + 1;
  }

  /** A vector of length 1. Ignores word order, and stop words unless there are no other words. */
  vectorOf(text: string): Float32Array {
    const words = wordsOf(text);
    const sum = new Float64Array(this.dimension);
    const telling = words.filter((word) => !isStopWord(word));
    const isGerman = this.looksGerman(words);
    const counts = new Map<string, number>();
    for (const word of telling.length > 0 ? telling : words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) this.addWord(word, 1 + Math.log(count), isGerman, sum);
    if (counts.size === 0) this.addSpelling(`text ${text.trim().slice(0, 100)}`, 1, sum);
    return finished(sum);
  }

  private addWord(word: string, times: number, isGerman: boolean, sum: Float64Array): void {
    const rank = this.table.rankOf(word);
    const meanings = isGerman || rank === undefined ? this.german.meaningOf(word) : null;
    const ranks = (meanings ?? [word]).map((one) => this.table.rankOf(one)).filter((one) => one !== undefined);
    if (ranks.length === 0) {
      this.addSpelling(stemOf(word), times * unknownSpelling, sum);
      const runs = runsOf(word);
      for (const run of runs) this.addSpelling(`#${run}`, (times * unknownSpelling) / Math.sqrt(runs.length), sum);
      return;
    }
    for (const one of ranks) this.table.add(one, (times * weightOf(one)) / Math.sqrt(ranks.length), sum);
    const weight = times * Math.max(...ranks.map(weightOf));
    this.addSpelling(stemOf(word), weight * spelling, sum);
    // A German word also gets some of the spelling of its meaning, so that a question in one language finds a text in the other.
    if (meanings) this.addSpelling(stemOf(meanings[0]!), (weight * spelling) / 2, sum);
  }

  private addSpelling(feature: string, weight: number, sum: Float64Array): void {
    addFeature(feature, weight, sum, this.table.dimension, hashed);
  }

  /** Judges by function words and umlauts, then by whether the other words are in the German list or the English table. */
  private looksGerman(words: readonly string[]): boolean {
    let balance = 0;
    for (const word of words) {
      const stopWords = Number(isGermanStopWord(word)) - Number(isEnglishStopWord(word));
      const rank = this.table.rankOf(word);
      const common = rank !== undefined && rank < commonRank;
      balance += stopWords + Number(/[äöüß]/.test(word));
      if (isStopWord(word)) continue;
      if (common) balance -= this.german.has(word) ? 0 : 0.5;
      else if (this.german.meaningOf(word)) balance += 1;
    }
    return balance > 0;
  }
}

function finished(sum: Float64Array): Float32Array {
  let squares = 0;
  for (const value of sum) squares += value * value;
  const factor = squares > 0 ? 1 / Math.sqrt(squares * (1 + shared)) : 0;
  const vector = new Float32Array(sum.length);
  for (let at = 0; at < sum.length; at += 1) vector[at] = sum[at]! * factor;
  vector[vector.length - 1] = squares > 0 ? Math.sqrt(shared / (1 + shared)) : 1;
  return vector;
}

/** Numbers that one feature changes. */
const places = 4;

/** FNV-1a over the UTF-16 units, mixed once more so that similar texts differ in every bit. */
function hashOf(text: string, seed: number): number {
  let hash = (2_166_136_261 ^ seed) >>> 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/**
 * Adds a feature of length `weight` to `sum[start..start + length)`: a sparse random direction that depends only on its text, so
 * that equal features coincide and different ones are nearly orthogonal (feature hashing, Weinberger et al. 2009).
 */
function addFeature(feature: string, weight: number, sum: Float64Array, start: number, length: number): void {
  for (let place = 0; place < places; place += 1) {
    const hash = hashOf(feature, Math.imul(place + 1, 0x9e3779b1));
    sum[start + (hash % length)]! += (hash & 0x40000000 ? weight : -weight) / Math.sqrt(places);
  }
}

/** Trigrams with the ends of the word marked; bigrams for scripts that write words in one or two characters. */
function runsOf(word: string): readonly string[] {
  const characters = [...`<${word}>`];
  const length = /[\u2e80-\u9fff\uac00-\ud7af\u{20000}-\u{3ffff}]/u.test(word) ? 2 : 3;
  return Array.from({ length: Math.max(1, characters.length - length + 1) }, (_, at) => characters.slice(at, at + length).join(''));
}
