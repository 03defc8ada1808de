/** A formula in a text: its source with delimiters, and where it begins and ends. */
export interface TexSpan {
  readonly start: number;
  readonly end: number;
}

/** Environments that models also write without delimiters around them. */
const environments = new Set(
  'equation align alignat gather multline eqnarray split aligned gathered cases array matrix pmatrix bmatrix vmatrix Bmatrix Vmatrix'.split(
    ' ',
  ),
);
/** Characters of a formula at most. */
const longest = 10_000;

/**
 * The formulas of a Markdown text: `\(…\)`, `\[…\]`, `$…$`, `$$…$$`, and environments. Code holds none. A `$` opens one by Pandoc's rule: no space
 * follows it, none precedes the closing one, and no digit follows that; what is between must also read like a formula, so that prices, variables of
 * a shell and escaped brackets remain text. Takes time linear in the length.
 */
export function texSpans(text: string): readonly TexSpan[] {
  const spans: TexSpan[] = [];
  const absent = new Map<string, number>();
  let paragraphEnd = -1;
  /**
   * The next place of a closing mark in this paragraph, before another opening one; -1 if there is none. Remembers what a paragraph does not
   * hold, so that nothing is searched again and again.
   */
  const find = (mark: string, from: number, open?: string): number => {
    if (from > paragraphEnd) paragraphEnd = endOfParagraph(text, from);
    if ((absent.get(mark) ?? -1) >= from) return -1;
    for (let at = from; at < paragraphEnd; at += 1) {
      if (text.startsWith(mark, at)) return at;
      if (open !== undefined && text.startsWith(open, at)) return -1;
      if (text[at] === '\\') at += 1;
    }
    absent.set(mark, paragraphEnd);
    return -1;
  };
  /** The next run of exactly so many backticks in this paragraph: inside, a backslash means nothing. */
  const findTicks = (marks: number, from: number): number => {
    if (from > paragraphEnd) paragraphEnd = endOfParagraph(text, from);
    const mark = '`'.repeat(marks);
    if ((absent.get(mark) ?? -1) >= from) return -1;
    for (let at = from; at < paragraphEnd; at += 1) {
      if (text[at] !== '`') continue;
      const run = runOf(text, at, '`');
      if (run === marks) return at;
      at += run - 1;
    }
    absent.set(mark, paragraphEnd);
    return -1;
  };
  let at = 0;
  const take = (start: number, end: number): void => {
    spans.push({ start, end });
    at = end;
  };
  while (at < text.length) {
    const sign = text[at]!;
    if (at === 0 || text[at - 1] === '\n') {
      const after = afterFence(text, at);
      if (after > at) {
        at = after;
        continue;
      }
    }
    if (sign === '`') {
      const marks = runOf(text, at, '`');
      // Code is not written with more marks, and each length is another search.
      const close = marks > 8 ? -1 : findTicks(marks, at + marks);
      at = close < 0 ? at + marks : close + marks;
    } else if (sign === '\\') {
      const next = text[at + 1];
      const name = next === 'b' ? /\\begin\{([A-Za-z]{1,10})(\*?)\}/y : null;
      if (name) name.lastIndex = at;
      const environment = name?.exec(text);
      const [open, close] =
        next === '(' || next === '['
          ? [`\\${next}`, next === '(' ? '\\)' : '\\]']
          : environment
            ? [environment[0], `\\end{${environment[1]}${environment[2]}}`]
            : ['', ''];
      const begins = open !== '' && (!environment || environments.has(environment[1]!));
      const end = begins ? find(close, at + open.length, open) : -1;
      const inner = end < 0 ? '' : text.slice(at + open.length, end);
      if (end >= 0 && inner.length <= longest && (environment || isFormula(inner, next as '(' | '['))) take(at, end + close.length);
      else at += 2;
    } else if (sign === '$') {
      const marks = runOf(text, at, '$');
      const mark = '$'.repeat(marks);
      const end = marks > 2 || isWordSign(text[at - 1]) ? -1 : find(mark, at + marks);
      const inner = end < 0 ? '' : text.slice(at + marks, end);
      const closes = marks === 2 ? runOf(text, end, '$') === 2 : closesInline(text, inner, end);
      if (end >= 0 && inner.length <= longest && closes && isFormula(inner, '$')) take(at, end + marks);
      else at += marks;
    } else at += 1;
  }
  return spans;
}

const isWordSign = (sign: string | undefined): boolean => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);

function closesInline(text: string, inner: string, end: number): boolean {
  return !inner.includes('\n') && !/^\s|\s$/.test(inner) && text[end + 1] !== '$' && !isWordSign(text[end + 1]);
}

function runOf(text: string, from: number, sign: string): number {
  let at = from;
  while (text[at] === sign) at += 1;
  return at - from;
}

/** Where the next blank line begins, or the text ends. */
function endOfParagraph(text: string, from: number): number {
  const blank = /\n[ \t>]*(?=\n)/g;
  blank.lastIndex = from;
  return blank.exec(text)?.index ?? text.length;
}

/** The end of a fenced block of code that begins in this line, also in a quotation or a list; the place itself if none does. */
function afterFence(text: string, line: number): number {
  const mark = fenceOf(text, line, /[ \t>*+.)\d-]/);
  if (mark === null) return line;
  for (let at = text.indexOf('\n', line); at >= 0; at = text.indexOf('\n', at + 1)) {
    const close = fenceOf(text, at + 1, /[ \t>]/);
    if (close === null || close.mark[0] !== mark.mark[0] || close.mark.length < mark.mark.length) continue;
    const end = text.indexOf('\n', close.end);
    if (text.slice(close.end, end < 0 ? undefined : end).trim() === '') return end < 0 ? text.length : end;
  }
  return text.length;
}

function fenceOf(text: string, line: number, indent: RegExp): { readonly mark: string; readonly end: number } | null {
  let at = line;
  while (at < text.length && indent.test(text[at]!)) at += 1;
  const sign = text[at];
  const length = sign === '`' || sign === '~' ? runOf(text, at, sign) : 0;
  return length < 3 ? null : { mark: text.slice(at, at + length), end: at + length };
}

/** Whether the text between delimiters reads like a formula rather than like prose, a price or an escaped bracket. */
function isFormula(inner: string, opened: '(' | '[' | '$'): boolean {
  const tex = inner.trim();
  if (tex === '' || !isBalanced(tex)) return false;
  if (/\\[A-Za-z]/.test(tex)) return true;
  if (/["`]/.test(tex) || (tex.match(/\p{L}{3,}/gu) ?? []).some((word) => word !== word.toUpperCase())) return false;
  const isSpaced = /\s/.test(tex);
  const hasWords = isSpaced && /\p{L}{2,}/u.test(tex);
  if (/[=^_<>]/.test(tex) && !/[=<>]$/.test(tex)) return !(hasWords && /^\d/.test(tex));
  if (opened === '[') return inner !== tex && /[+*/-]/.test(tex);
  if (hasWords || /[-+*/:,;.]$/.test(tex)) return false;
  // Amounts with groups of thousands are prices: a formula groups with `{,}`.
  return !(opened === '$' && /^[\d.,]*\d,\d{3}(?:\D|$)/.test(tex));
}

function isBalanced(tex: string): boolean {
  let braces = 0;
  let others = 0;
  for (let at = 0; at < tex.length && braces >= 0; at += 1) {
    const sign = tex[at]!;
    if (sign === '\\') at += 1;
    else if (sign === '{') braces += 1;
    else if (sign === '}') braces -= 1;
    else if (sign === '(' || sign === '[') others += 1;
    else if (sign === ')' || sign === ']') others -= 1;
  }
  return braces === 0 && (others === 0 || tex.includes('\\'));
}
