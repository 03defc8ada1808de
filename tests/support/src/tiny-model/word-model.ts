const end = '\u0003';

/**
 * A word model of order two with back-off, trained on given text: real statistics, no understanding. It continues any prompt with
 * plausible-looking text and follows no format, like a language model that is far too small.
 */
export class WordModel {
  private readonly following = new Map<string, Map<string, number>>();

  /** Throws if the text has no word. */
  constructor(text: string) {
    if (!/\S/.test(text)) throw new Error('A word model needs text to learn from.');
    for (const sentence of text.match(/[^.!?]+[.!?]*/g) ?? []) {
      const words = [...(sentence.match(/\S+/g) ?? []), end];
      words.forEach((word, at) => {
        for (const order of [2, 1, 0]) if (at >= order) this.count(words.slice(at - order, at).join(' '), word);
      });
    }
  }

  /** Returns `words` words after the prompt; the same prompt, seed and length return the same text. */
  continue(prompt: string, words: number, seed: number): string[] {
    const random = generator(seed ^ hash(prompt));
    const context = (prompt.match(/\S+/g) ?? []).slice(-2);
    const written: string[] = [];
    while (written.length < words) {
      const word = this.draw([...context, ...written].slice(-2), random());
      if (word === end) {
        if (written.length > 0 && random() < 0.2) break;
        context.length = 0;
        const start = this.draw([], random());
        if (start !== end) written.push(start);
      } else written.push(word);
    }
    return written;
  }

  private count(context: string, word: string): void {
    const counts = this.following.get(context) ?? new Map<string, number>();
    counts.set(word, (counts.get(word) ?? 0) + 1);
    this.following.set(context, counts);
  }

  /** A word drawn by its frequency after the longest known context. */
  private draw(context: readonly string[], chance: number): string {
    const counts = this.following.get(context.join(' ')) ?? this.following.get(context.at(-1) ?? '') ?? this.following.get('')!;
    let left = chance * [...counts.values()].reduce((sum, count) => sum + count, 0);
    for (const [word, count] of counts) if ((left -= count) < 0) return word;
    return end;
  }
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0)!, 16_777_619);
  return value >>> 0;
}

/** mulberry32 */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
