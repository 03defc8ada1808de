/** Small seeded generator (mulberry32), so that a failing corpus can be reproduced from its seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const onsets = [
  'b',
  'br',
  'c',
  'd',
  'dr',
  'f',
  'g',
  'gr',
  'h',
  'k',
  'kl',
  'l',
  'm',
  'n',
  'p',
  'qu',
  'r',
  's',
  'sk',
  't',
  'th',
  'v',
  'w',
  'z',
];
const vowels = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ou'];
const codas = ['', 'l', 'm', 'n', 'r', 'rn', 's', 'sk', 't', 'x', 'nd'];

/** Makes unique names that exist in no language. */
export class NameMaker {
  private readonly made = new Set<string>();
  constructor(private readonly random: () => number) {}

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)]!;
  }
  word(): string {
    for (;;) {
      const syllables = 2 + Math.floor(this.random() * 2);
      const word = Array.from({ length: syllables }, () => this.pick(onsets) + this.pick(vowels) + this.pick(codas)).join('');
      if (word.length < 4 || word.length > 12 || this.made.has(word)) continue;
      this.made.add(word);
      return word.charAt(0).toUpperCase() + word.slice(1);
    }
  }
  person(): string {
    return `${this.word()} ${this.word()}`;
  }
  place(): string {
    return this.random() < 0.5 ? this.word() : `${this.word()} ${this.pick(['Hollow', 'Bay', 'Cross', 'Field'])}`;
  }
  year(): string {
    return String(1400 + Math.floor(this.random() * 500));
  }
}
