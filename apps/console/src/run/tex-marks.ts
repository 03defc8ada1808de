import type { Tree } from './citations.js';
import { texSpans } from './tex-spans.js';

// A formula passes through the Markdown parser as characters for private use, because Markdown would take its backslashes, underscores and bars
// for marks of its own. Each unit of the source becomes the character 0xF0000 above it, behind one that begins the formula.
const begin = '\u{100001}';
const encoded = /\u{100001}([\u{F0000}-\u{FFFFF}]+)/gu;
const isPrivate = /[\u{F0000}-\u{10FFFF}]/u;

const unitsOf = (text: string): number[] => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
const encode = (source: string): string => begin + String.fromCodePoint(...unitsOf(source).map((unit) => 0xf0000 + unit));
const decode = (marks: string): string => Array.from(marks, (sign) => String.fromCharCode(sign.codePointAt(0)! - 0xf0000)).join('');

/** The text with its formulas hidden from Markdown. A text that has such characters already is returned as it is. */
export function hideTex(text: string): string {
  if (!/[\\$]/.test(text) || isPrivate.test(text)) return text;
  let hidden = '';
  let at = 0;
  for (const { start, end } of texSpans(text)) {
    const source = text.slice(start, end);
    // In a quotation, each line of a formula has the mark of the quotation.
    const isQuoted = source.includes('\n') && /^[ \t]*>/.test(text.slice(text.lastIndexOf('\n', start) + 1, start + 1));
    hidden += text.slice(at, start) + encode(isQuoted ? source.replace(/\n[ \t]*>/g, '\n') : source);
    at = end;
  }
  return hidden + text.slice(at);
}

/** Turns hidden formulas of a Markdown tree into elements `span.tex` with their source, and into their source where text is taken literally. */
export const shownTex = () => (tree: Tree) => visit(tree);

const written = (text: string): string => text.replace(encoded, (_, marks: string) => decode(marks));

function visit(node: Tree): void {
  for (const name of ['url', 'title', 'alt', 'label', 'identifier'] as const) {
    const text = node[name];
    if (text) node[name] = written(text);
  }
  if (node.value !== undefined) node.value = written(node.value);
  if (!node.children) return;
  node.children = node.children.flatMap((child) => (child.type === 'text' ? formulas(child.value ?? '') : [child]));
  for (const child of node.children) if (child.data?.hProperties?.['className'] !== texClass) visit(child);
}

const texClass = ['tex'];

function formulas(text: string): Tree[] {
  const parts: Tree[] = [];
  let at = 0;
  for (const match of text.matchAll(encoded)) {
    if (match.index > at) parts.push({ type: 'text', value: text.slice(at, match.index) });
    const value = decode(match[1]!);
    parts.push({ type: 'emphasis', data: { hName: 'span', hProperties: { className: texClass } }, children: [{ type: 'text', value }] });
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push({ type: 'text', value: text.slice(at) });
  return parts;
}

/** A formula without its delimiters, and whether it stands on a line of its own. */
export function texOf(source: string): { readonly tex: string; readonly isDisplay: boolean } {
  if (source.startsWith('\\begin')) return { tex: source, isDisplay: true };
  const marks = source.startsWith('$') && !source.startsWith('$$') ? 1 : 2;
  return { tex: source.slice(marks, -marks), isDisplay: source.startsWith('$$') || source.startsWith('\\[') };
}
