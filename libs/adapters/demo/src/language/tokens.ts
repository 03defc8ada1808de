import { connectors, isHonorific, isStopWord, meaningsOf, months, questionWords } from './words.js';

export interface TextToken {
  readonly text: string;
  readonly lower: string;
  readonly meanings: readonly string[];
  readonly start: number;
  readonly end: number;
  /** Followed by 's. */
  readonly possessive: boolean;
  /** Only white space or a quotation mark separates it from the previous token. */
  readonly joined: boolean;
}

/** Words and numbers with their places in the text. */
export function tokensOf(text: string): readonly TextToken[] {
  const tokens: TextToken[] = [];
  let last = 0;
  for (const match of text.matchAll(/[\p{L}\p{N}]+(?:[-'’.&][\p{L}\p{N}]+)*/gu)) {
    const possessive = /['’]s$/i.test(match[0]);
    const word = possessive ? match[0].slice(0, -2) : match[0];
    const lower = word.normalize('NFKC').toLowerCase();
    const between = text.slice(last, match.index);
    last = match.index + match[0].length;
    const joined = /^[\s"“”„«»]*$/.test(between) || (/^\.\s$/.test(between) && /^(st|dr|mr|mrs|ms|prof)$/.test(tokens.at(-1)?.lower ?? ''));
    tokens.push({ text: word, lower, meanings: meaningsOf(lower), start: match.index, end: match.index + word.length, possessive, joined });
  }
  return tokens;
}

/** Whether two words may mean the same. */
export const sharesMeaning = (a: Pick<TextToken, 'meanings'>, b: Pick<TextToken, 'meanings'>): boolean =>
  a.meanings.some((meaning) => b.meanings.includes(meaning));

/** Consecutive capitalised words that form one name. */
export interface Name {
  /** First and last token. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** Lower case, without article and honorific; equal keys mean the same name. */
  readonly key: string;
}

const capitalised = (token: TextToken): boolean => /^\p{Lu}/u.test(token.text) || (/\p{N}/u.test(token.text) && /\p{Lu}/u.test(token.text));
const startsName = (token: TextToken, first: boolean): boolean =>
  capitalised(token) &&
  !months.has(token.lower) &&
  !questionWords.has(token.lower) &&
  !(isStopWord(token.lower) && (first || token.lower !== 'the'));

/** Names of a sentence, in order, without a leading article. An ordinary word at the start of the sentence is not a name. */
export function namesOf(text: string, tokens: readonly TextToken[]): readonly Name[] {
  const names: Name[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (!startsName(tokens[at]!, at === 0)) continue;
    let from = at;
    let to = at;
    while (!tokens[to]!.possessive) {
      let next = to + 1;
      while (
        next < tokens.length &&
        next - to <= 2 &&
        tokens[next]!.joined &&
        connectors.has(tokens[next]!.lower) &&
        !capitalised(tokens[next]!)
      )
        next += 1;
      const token = tokens[next];
      if (!token?.joined || !capitalised(token) || months.has(token.lower)) break;
      to = next;
    }
    at = to;
    while (from < to && (tokens[from]!.lower === 'the' || isHonorific(tokens[from]!.lower))) from += 1;
    if (from === to && tokens[from]!.lower === 'the') continue;
    names.push({
      from,
      to,
      text: text.slice(tokens[from]!.start, tokens[to]!.end).replace(/["“”]/g, ''),
      key: keyOf(tokens.slice(from, to + 1)),
    });
  }
  return names;
}

const keyOf = (tokens: readonly TextToken[]): string => {
  const words = tokens.map((token) => token.lower);
  const half = words.length / 2;
  // A heading before a sentence doubles the name that starts it.
  const doubled = words.length % 2 === 0 && words.slice(0, half).join(' ') === words.slice(half).join(' ');
  return (doubled ? words.slice(half) : words).join(' ');
};

/** Position of a run of words in the tokens, or null. */
export function placeOf(words: readonly string[], tokens: readonly TextToken[]): { readonly from: number; readonly to: number } | null {
  for (let at = 0; at + words.length <= tokens.length; at += 1)
    if (words.every((word, index) => tokens[at + index]!.lower === word)) return { from: at, to: at + words.length - 1 };
  return null;
}
