/** Letters and digits of Latin-1 in lower case, for a character class. */
const letters = 'a-zªµºß-öø-ÿ';
const digits = '0-9²³¹¼-¾';

/** Punctuation beyond Latin-1 that patterns name; each becomes a control character, which no text has. */
const punctuation = new Map([...'–—‘’“”„…‑−'].map((sign, index) => [sign, String.fromCharCode(0x90 + index)]));

const folded = (sign: string): string => {
  const known = punctuation.get(sign);
  if (known !== undefined) return known;
  return (/\p{L}/u.test(sign) ? 'ÿ' : /\s/u.test(sign) ? ' ' : /\p{N}/u.test(sign) ? '¾' : '\u0080').repeat(sign.length);
};

let last = { text: '', folded: '' };

/**
 * A text of the same length in lower case and Latin-1: other letters become "ÿ", other digits "¾". V8 compiles a pattern for one byte per
 * character and again for two, and takes twenty times as long for the letters of all alphabets. The last text is kept, because one question
 * is compared with some fifty patterns.
 */
export function foldText(text: string): string {
  if (text === last.text) return last.folded;
  // The only letter that becomes longer in lower case.
  const lower = text.replaceAll('İ', 'i').toLowerCase();
  // The way through bytes makes it a string of one byte per character.
  // eslint-disable-next-line no-control-regex
  last = { text, folded: Buffer.from(lower.replace(/[^\u0000-\u00ff]/gu, folded), 'latin1').toString('latin1') };
  return last.folded;
}

/**
 * The source of a pattern with the flags `iu` as one for folded texts, without flags. Null if it names letters beyond Latin-1 or properties
 * other than `\p{L}` and `\p{N}`.
 */
export function foldPattern(source: string): string | null {
  let inClass = false;
  let out = '';
  for (const [part] of source.matchAll(/\\[pP]\{\w+\}|\\[^]|[^]/gu)) {
    if (part === '\\p{L}' || part === '\\p{N}') {
      const members = part === '\\p{L}' ? letters : digits;
      out += inClass ? members : `[${members}]`;
      continue;
    }
    if (/^\\(?:[pPuxck]|[^\0-\u007f])/u.test(part)) return null;
    if (part === '[') inClass = true;
    if (part === ']') inClass = false;
    const sign = part > '\u00ff' ? punctuation.get(part) : part.startsWith('\\') ? part : part.toLowerCase();
    if (sign === undefined) return null;
    out += sign;
  }
  return out;
}
