const superscripts: Readonly<Record<string, string>> = { '⁺': '+', '⁻': '-', '⁽': '(', '⁾': ')', ⁿ: 'n', ⁱ: 'i' };

/**
 * Replaces compatibility forms with plain characters without changing numbers: 10² becomes 10^2 (not 102), 1½ becomes 1 1⁄2 (not 11⁄2), and
 * every minus sign becomes "-".
 */
export const plainCharacters = (text: string): string =>
  text
    .replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ]+/gu, (run) => `^${[...run].map((char) => superscripts[char] ?? char.normalize('NFKC')).join('')}`)
    .replace(/(?<=\d)(?=[¼½¾⅐-⅞])/gu, ' ')
    .normalize('NFKC')
    .replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/gu, '')
    .replace(/[\u2212\ufe63\uff0d]/gu, '-')
    .replace(/[\u2018\u2019\u02bc]/gu, "'");

/** A word, a number with its separators, or one sign. */
const tokenPattern = /\p{L}[\p{L}\p{M}\p{N}_]*(?:'\p{L}+)*|\p{N}+(?:[.,]\p{N}+)*|[^\s\p{L}\p{N}]/gu;
/**
 * Signs that only structure a sentence: opening and closing quotation marks, and ends of words or clauses. A prime or an inch mark is not
 * one.
 */
const structurePattern =
  /[“”„«»`]|(?<![\p{N})])"|(?<![\p{L}\p{N})\]'])'|(?<=[\p{L}\p{N})\]"”“»'])[,;:.?…]+(?=["'\s]|$)|(?<=\p{L}{2})!+(?=["'\s]|$)/gu;

const isWord = (token: string): boolean => /^\p{L}/u.test(token);
const firstLetterOnly = /^\p{Lu}[^\p{Lu}]*$/u;

/** Words up to this length keep their case: C, R, Go, IT and US differ from c, r, go, it and us. */
const shortWord = 3;

interface WordingToken {
  /** The form used in comparisons. */
  readonly key: string;
  /** False if replacing it changes the question: signs, numbers, names, and words that keep their case. */
  readonly isSoft: boolean;
}

/** The tokens of a text, and their distinct keys. */
interface Wording {
  readonly tokens: readonly WordingToken[];
  readonly keys: ReadonlySet<string>;
}

/** Number of cached texts, because every step of a run compares the same few. A full cache is cleared; longer texts are not cached. */
const keptWordings = 256;
const longestKept = 2_000;
const wordings = new Map<string, Wording>();

function wordingOf(text: string): Wording {
  const known = wordings.get(text);
  if (known) return known;
  const tokens = tokensOf(text);
  const wording = { tokens, keys: new Set(tokens.map(({ key }) => key)) };
  if (text.length <= longestKept) {
    if (wordings.size >= keptWordings) wordings.clear();
    wordings.set(text, wording);
  }
  return wording;
}

/**
 * The words, numbers and signs of an instruction or a query. Case matters in short words and in words with inner capitals (NASA, getUser),
 * except for the capital that begins a sentence.
 */
function tokensOf(text: string): readonly WordingToken[] {
  // The end of a sentence becomes a line end.
  const plain = plainCharacters(text).replace(structurePattern, (sign) => (/[.?!:…]/u.test(sign) ? '\n' : ' '));
  let end = 0;
  return [...plain.matchAll(tokenPattern)].map((match) => {
    const [token] = match;
    const begins = match.index === 0 || /[\n|]\s*$/u.test(plain.slice(Math.max(0, end - 1), match.index));
    end = match.index + token.length;
    if (!isWord(token)) return { key: token, isSoft: false };
    const isCapital = /^\p{Lu}/u.test(token);
    const opensSentence = begins && token.length > 1 && firstLetterOnly.test(token);
    if (opensSentence) return { key: token.toLowerCase(), isSoft: true };
    const keepsCase = token.length <= shortWord || (isCapital ? !firstLetterOnly.test(token) : /\p{Lu}/u.test(token));
    return { key: keepsCase ? token : token.toLowerCase(), isSoft: !isCapital && token.length > 1 && !/[\p{Lu}\p{N}]/u.test(token) };
  });
}

/** Texts with equal keys are identical except for white space, punctuation and the case of long words. */
export const textKey = (text: string): string =>
  wordingOf(text)
    .tokens.map(({ key }) => key)
    .join(' ') || text.trim();

/** Token Jaccard similarity, 0 to 1. */
function similarity(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size === 0 && right.size === 0) return 1;
  let shared = 0;
  for (const token of left) if (right.has(token)) shared += 1;
  return shared / (left.size + right.size - shared);
}

/** Minimum token similarity of texts that may say the same. */
const nearRepeat = 0.8;

const listed = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Words that reverse a statement, wherever they occur. */
const turning = listed(
  'no not nor never none without except unless only least most more less first last before after all any both either neither ' +
    'nicht kein keine keinen keiner keines nie niemals ohne außer nur weder mehr weniger erste letzte vor nach alle beide',
);
/** Words that can be added, removed or replaced without changing a sentence's meaning. */
const filler = listed(
  'a an the is are was were be been do does did has have had of please exactly me us this that its it ' +
    'ein eine einer eines einem einen der die das den dem des ist sind war waren sei wird wurde hat haben hatte bitte genau mir uns es',
);

/** Whether two words are forms of one: their common prefix has at least 4 letters and two thirds of the longer word. */
function isForm(a: string, b: string): boolean {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  return same >= 4 && same * 3 >= Math.max(a.length, b.length) * 2;
}

/**
 * Whether two texts say the same in nearly the same words: they share most tokens in the same order, and differ only in words that do not
 * change the question. Another number, sign or name, a negation, or another word in the same place does change it.
 */
export function isNear(a: string, b: string): boolean {
  const { tokens: left, keys: inLeft } = wordingOf(a);
  const { tokens: right, keys: inRight } = wordingOf(b);
  if (similarity(inLeft, inRight) < nearRepeat) return false;
  const extraLeft = left.filter(({ key }) => !inRight.has(key));
  const extraRight = right.filter(({ key }) => !inLeft.has(key));
  if ([...extraLeft, ...extraRight].some(({ key, isSoft }) => !isSoft || turning.has(key))) return false;
  const [fewer, others] = extraLeft.length < extraRight.length ? [extraLeft, extraRight] : [extraRight, extraLeft];
  const isReplaced = fewer.some(({ key }) => !filler.has(key) && !others.some((other) => isForm(key, other.key)));
  return !isReplaced && inOrder(left, inRight) === inOrder(right, inLeft);
}

/** The shared content tokens, in order of first occurrence. */
const inOrder = (tokens: readonly WordingToken[], shared: ReadonlySet<string>): string =>
  [...new Set(tokens.map(({ key }) => key).filter((key) => shared.has(key) && !filler.has(key)))].join(' ');
