import type { Quoted, QuotedPart } from './quoted.js';

/** A line that names or numbers the document below it: `File: a.md`, `Document 2: Travel`, `# URI: https://…`. */
const headed =
  /^[^\S\n]{0,20}(?:#{1,3} )?(file|document|doc|source|passage|excerpt|chunk|result|note|uri|file_path)(?: #?(\d{1,3}))?[^\S\n]?:[^\S\n]{0,4}([^\n]{0,300})$/gimu;
/** A heading that is a name in quotation marks: `# "a.md"`. */
const quotedName = /^#{1,3} "([^"\n]{1,300})"[^\S\n]*$/gmu;
/** A heading of a tree of lines: `ID: 0` above `├── Title: a.md`. */
const treeTop = /^[^\S\n]{0,20}ID: \d{1,6}(?=\n[^\S\n]{0,20}├── )/gmu;
const node = /^[^\S\n]{0,20}[├└]──[^\S\n]?([^:\n]{1,40}):[^\S\n]*([^\n]*)(?:\n|$)/u;
/** What says in words that the text of a document follows. */
const contentLabel = /^\s*(?:content|text)\b[^\n:]{0,20}:[^\S\n]*/iu;
const rule = /^[^\S\n]*(?:-{3,200}|={3,200})[^\S\n]*$/u;
const mostRecords = 2_000;
/** A file, a path or an address, as opposed to words. */
const located = /^(?:https?:\/\/\S+|\S*\/\S.*|.{1,200}\.[a-z0-9]{1,8})$/iu;

/** Whether a text looks like the name of a file, a path or an address. */
export const isLocation = (name: string): boolean => located.test(name.trim()) && !/[:;,?!]\s/u.test(name);

/** A text without blank lines and rules around it. */
export function withoutRules(text: string): string {
  const lines = text.split('\n');
  const isEdge = (line: string): boolean => line.trim() === '' || rule.test(line);
  let [from, to] = [0, lines.length];
  while (from < to && isEdge(lines[from]!)) from += 1;
  while (to > from && isEdge(lines[to - 1]!)) to -= 1;
  return lines.slice(from, to).join('\n').trim();
}

/** A text without the fence around all of it. */
const unfenced = (text: string): string => /^```[^\n`]{0,40}\n([\s\S]*)\n```$/u.exec(text)?.[1] ?? text;

interface Head {
  readonly from: number;
  readonly to: number;
  readonly n: number | null;
  readonly name: string;
}

/**
 * Documents of a block, each below a line that names it; the first such line begins the block, and only lines of its kind begin
 * documents. Null without one. Takes time in proportion to the length of the text.
 */
export function headedIn(block: string): readonly Quoted[] | null {
  const heads = namedHeads(block) ?? quotedHeads(block);
  if (heads === null || heads.length > mostRecords || withoutRules(block.slice(0, heads[0]!.from)) !== '') return null;
  return heads.map(({ to, n, name }, at): Quoted => {
    const body = withoutRules(block.slice(to, heads[at + 1]?.from)).replace(contentLabel, '');
    const address = name.startsWith('http') ? name : null;
    return { n, title: address === null ? name || undefined : undefined, url: address, body: unfenced(body.trim()) };
  });
}

function namedHeads(block: string): readonly Head[] | null {
  const found = [...block.matchAll(headed)];
  const kind = found[0]?.[1]?.toLowerCase();
  const heads = found.flatMap((one): Head[] => {
    const [line, word = '', n, name = ''] = one;
    // A source that is only a word is a remark about the text around it.
    if (word.toLowerCase() !== kind || (n === undefined && !isLocation(name))) return [];
    return [{ from: one.index, to: one.index + line.length, n: n === undefined ? null : Number(n), name: name.trim() }];
  });
  return heads.length === 0 ? null : heads;
}

function quotedHeads(block: string): readonly Head[] | null {
  const heads = [...block.matchAll(quotedName)].map(({ 0: line, 1: name = '', index }): Head => ({
    from: index,
    to: index + line.length,
    n: null,
    name,
  }));
  return heads.length === 0 ? null : heads;
}

/** Says where what was quoted ends. */
const saidAbove = /\n[^\S\n]{0,40}(?:the )?above (?:is|are)\b/giu;
/** How a line of a list begins. */
const listed = /^[^\S\n]{0,40}(?:[-*•]|\d{1,2}[.)]) /u;

/**
 * Trees of lines, as RAGFlow draws its knowledge: `ID: 0`, `├── Title: a.md`, `└── Content:`. The last one ends before the last words that
 * say so, or before the next line of the list into which they were put. Null without one.
 */
export function treesIn(text: string): QuotedPart | null {
  const tops = [...text.matchAll(treeTop)];
  const [first] = tops;
  if (first === undefined || tops.length > mostRecords) return null;
  const lastTop = tops.at(-1)!.index;
  const behind = text.slice(lastTop);
  const to = lastTop + ([...behind.matchAll(saidAbove)].at(-1)?.index ?? nextOfList(text.slice(0, first.index), behind) ?? behind.length);
  const elements = tops.map(({ 0: top, index }, at) => treeOf(text.slice(index + top.length + 1, tops[at + 1]?.index ?? to)));
  return { elements, from: withoutRulesAtEnd(text, first.index), to };
}

/** Where the blank lines and rules begin that stand before a place in a text. */
function withoutRulesAtEnd(text: string, end: number): number {
  let at = end;
  while (at > 0) {
    const from = text.lastIndexOf('\n', at - 2) + 1;
    const line = text.slice(from, at).trim();
    if (at - from > 300 || (line !== '' && !rule.test(line))) break;
    at = from;
  }
  return at;
}

/** Where the next line begins of the list in whose last line a text ends. */
function nextOfList(before: string, behind: string): number | null {
  const line = withoutRules(before).split('\n').at(-1) ?? '';
  const indent = before.split('\n').findLast((one) => one.trim() === line.trim()) ?? '';
  const begins = listed.exec(indent)?.[0];
  const at = begins === undefined ? -1 : behind.indexOf(`\n${begins}`);
  return at < 0 ? null : at;
}

function treeOf(text: string): Quoted {
  const values = new Map<string, string>();
  let rest = text;
  for (let found = node.exec(rest); found; found = node.exec(rest)) {
    const [line, name = '', value = ''] = found;
    const key = name.trim().toLowerCase();
    rest = rest.slice(line.length);
    if (key === 'content') {
      rest = `${value}\n${rest}`;
      break;
    }
    values.set(key, value.trim());
  }
  const url = values.get('url') ?? '';
  // Its numbers are for programs: people see marks in their place.
  return { n: null, title: values.get('title'), url: url.startsWith('http') ? url : null, body: withoutRules(rest) };
}
