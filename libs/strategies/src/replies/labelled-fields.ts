import { jsonIn } from './json-reply.js';

/** A name of a field in a reply. `anywhere`: the name is unmistakable, so it also counts inside a line. */
export interface Label {
  readonly field: string;
  /** Its words in lower case; a blank, a dash, an underscore or nothing may separate them. */
  readonly words: string;
  readonly anywhere?: boolean;
}

export interface LabelledValue {
  readonly field: string;
  readonly value: string;
}

/** Longest reply that is read, in characters; of a longer one only the end, which contains the verdict. */
const longestReply = 12_000;

/** Maps signs of other scripts and keyboards to ASCII, one for one. */
const plainSigns: Readonly<Record<string, string>> = {
  '：': ':',
  '﹕': ':',
  '︰': ':',
  '＝': '=',
  '｜': '|',
  '│': '|',
  '┃': '|',
  '，': ',',
  '、': ',',
  '；': ';',
  '。': '.',
  '＿': '_',
  '－': '-',
  '‐': '-',
  '‑': '-',
  '（': '(',
  '）': ')',
  '【': '[',
  '】': ']',
  '［': '[',
  '］': ']',
  '「': '"',
  '」': '"',
  '『': '"',
  '』': '"',
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '‘': "'",
  '’': "'",
  '\u00a0': ' ',
  '\u3000': ' ',
  '⇒': '→',
  '＞': '>',
  '＜': '<',
};

/** The reply without thinking, struck-out text, special tokens and layout tags. */
function bare(reply: string): string {
  return reply
    .slice(-longestReply)
    .replace(/<(think|thinking|thought|reasoning|reflection)>[\s\S]*?(?:<\/\1>|$)/gi, '\n')
    .replace(/^[\s\S]*<\/(?:think|thinking|thought|reasoning|reflection)>/i, '\n')
    .replace(/~~[^~\n]{0,200}~~/g, ' ')
    .replace(/<\|[^|<>]{1,40}\|>|<\/?s>/g, '\n')
    .replace(/<(?:td|th)\b[^<>]{0,80}>/gi, ' | ')
    .replace(/<\/?(?:td|th|b|i|em|strong|code|span|u)\b[^<>]{0,80}>/gi, ' ')
    .replace(
      /<\/?(?:p|br|div|li|ul|ol|tr|table|thead|tbody|pre|h[1-6]|output|answer|response|result)\b[^<>]{0,80}>|<\/[^<>\n]{1,40}>/gi,
      '\n',
    )
    .replace(/\\([_*|-])/g, '$1')
    .replace(/[：﹕︰＝｜│┃，、；。＿－‐‑（）【】［］「」『』“”„«»‘’\u00a0\u3000⇒＞＜]/gu, (sign) => plainSigns[sign] ?? sign);
}

const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}]/gu, '');

/** After a name: closing quotes or emphasis, a remark in brackets, and the separator. */
const separator = /(?:[ \t]*\([^()\n]{0,60}\))?[ \t"'`*_\])]*(?:::?|:?=>?|-+>|→|\||>|[-–—](?=\s)|(?:is|ist)\b:?)[:=]?/iuy;
/** After a name in capitals at the start of a line, anything but a word separates. */
const anySign = /[^\p{L}\p{N}\n]+/uy;
const ownLine = /[ \t"'`*_\])#:]*(?=\n|$)/y;
/** Before a name at the start of a line: marks of lists, headings, quotations and tables, numbers, emoji. */
const lineLead = /^[^\p{L}\p{N}]*(?:(?:\d{1,2}|[a-z]{1,4})[.):][^\p{L}\p{N}]*)?$/iu;

/** Labelled values of a plain text, in their order. */
export function labelledValues(reply: string, labels: readonly Label[]): readonly LabelledValue[] {
  const text = bare(reply);
  const table = tableValues(text, labels);
  if (table.length > 0) return table;
  const found = [...namesIn(text, labels)];
  return found.map(({ field, end }, index) => {
    const next = found[index + 1];
    const value = text.slice(end, next?.start ?? text.length);
    // The number and marks of the next list item belong to that item.
    return { field, value: cleaned(next ? value.replace(/(?:^|\s)\(?\d{1,2}[.)][ \t*_"'`]*$/u, '') : value) };
  });
}

function* namesIn(text: string, labels: readonly Label[]): Generator<{ field: string; start: number; end: number }> {
  const pattern = labels
    .map(({ words }) => words.replaceAll(' ', '[ _-]?'))
    .sort((a, b) => b.length - a.length)
    .join('|');
  const byLetters = new Map(labels.map((label) => [letters(label.words), label]));
  for (const match of text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`, 'giu'))) {
    const label = byLetters.get(letters(match[0]));
    if (!label) continue;
    const lineStart = text.lastIndexOf('\n', match.index - 1) + 1;
    const before = text.slice(Math.max(lineStart, match.index - 60), match.index);
    const leads = match.index - lineStart <= 60 && lineLead.test(before);
    const end = match.index + match[0].length;
    separator.lastIndex = end;
    let sign = separator.exec(text);
    let behind = separator.lastIndex;
    if (!sign && leads && label.anywhere && match[0] === match[0].toUpperCase()) {
      anySign.lastIndex = end;
      sign = anySign.exec(text);
      behind = anySign.lastIndex;
    }
    ownLine.lastIndex = end;
    if (!sign && !(leads && ownLine.test(text))) continue;
    const isAttribute = /^\s*=\s*["']/.test(text.slice(end, end + 5));
    // In a table cell an ordinary word is a value, not a name.
    const isQuoted = /["'`{,;<(]\s*$/u.test(before) || (/\|\s*$/.test(before) && (label.anywhere || /[:=]/.test(sign?.[0] ?? '')));
    const article = /\bthe\s+$/iu.exec(before)?.[0] ?? '';
    const isMeant = label.anywhere && (article !== '' || /[.!?]\s*$/u.test(before) || match[0] === match[0].toUpperCase());
    if (!leads && !isAttribute && !isQuoted && !isMeant) continue;
    const start = leads ? lineStart : match.index - article.length;
    yield { field: label.field, start, end: sign ? behind : ownLine.lastIndex };
  }
}

/** Decoration around a value: quotes, emphasis, brackets, marks of lists and blocks, commas, the end of a tag. */
const decoration = /^[\s"'`*_>|,;:={}[\]•·~-]+|(?<![\s"'`*_|,;={}[\](<•·~#-])(?:["']\s*\/?>|[\s"'`*_|,;={}[\](<•·~#-])+$/gu;

function cleaned(raw: string): string {
  // A blank line or the end of a code block ends the value.
  const value = raw.replace(/^[\s"'`*_>|-]+/u, '').split(/\n\s*\n|\n?```/u)[0]!;
  const lines = value.split('\n').map((line) => line.replace(decoration, '').replace(/^\d{1,2}[.)]\s+/, ''));
  const isList = /\n\s*(?:[-*•]|\d{1,2}[.)])\s/.test(value);
  const joined = lines
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
    .join(isList ? '; ' : ' ')
    .replace(decoration, '');
  // Removes the end of a bracket opened before the name.
  return joined.includes('(') ? joined : joined.replace(/(?<![\s)])[\s)]+$/, '');
}

/** Reads a table whose first row contains names; cells are separated by bars, commas, semicolons or tabs. */
function tableValues(text: string, labels: readonly Label[]): readonly LabelledValue[] {
  const byLetters = new Map(labels.map((label) => [letters(label.words), label.field]));
  const rows = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /\p{L}/u.test(line));
  for (const [at, row] of rows.entries())
    for (const sign of ['|', '\t', ';', ',']) {
      const names = cells(row, sign).map((cell) => byLetters.get(letters(cell)));
      if (new Set(names).size < Math.max(2, names.length) || names.includes(undefined)) continue;
      const values = cells(rows[at + 1] ?? '', sign);
      if (values.length >= names.length) return names.map((field, index) => ({ field: field!, value: cleaned(values[index]!) }));
    }
  return [];
}

const cells = (row: string, sign: string): readonly string[] => {
  const quoted = row.match(new RegExp(`"[^"]*"|[^${sign === '|' ? '|' : sign}]+`, 'g')) ?? [];
  return quoted.map((cell) => cell.trim()).filter((cell, index, all) => cell !== '' || (index > 0 && index < all.length - 1));
};

/** Labelled values of a JSON value, at any depth. */
export function labelledMembers(value: unknown, labels: readonly Label[], depth = 0): readonly LabelledValue[] {
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  const byLetters = new Map(labels.map((label) => [letters(label.words), label.field]));
  const members = Object.entries(value) as [string, unknown][];
  // { "key": "GAP", "value": "…" }
  const [name, other, ...more] = members.map(([, member]) => member);
  const named =
    typeof name === 'string' && typeof other === 'string' && more.length === 0 && !Array.isArray(value)
      ? byLetters.get(letters(name))
      : undefined;
  if (named !== undefined && !members.some(([key]) => byLetters.has(letters(key)))) return [{ field: named, value: textOf(other) }];
  return members.flatMap(([key, member]) => {
    const field = Array.isArray(value) ? undefined : byLetters.get(letters(key));
    const inside = labelledMembers(typeof member === 'string' && /^\s*\{/.test(member) ? jsonIn(member) : member, labels, depth + 1);
    if (field === undefined || inside.length > 0) return inside;
    return [{ field, value: isRecord(member) ? textOf(Object.values(member as object)) : textOf(member) }];
  });
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join('; ');
  if (typeof value === 'string') return value.replace(/\s+/g, ' ').trim();
  return value === null || value === undefined || typeof value === 'object' ? '' : JSON.stringify(value);
}
