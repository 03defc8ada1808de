import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type { Mistake } from './mistakes.js';

export interface YamlPosition {
  readonly line: number;
  readonly column: number;
}

/** A YAML text with source positions. */
export interface YamlSource {
  readonly value: unknown;
  /** Syntax errors of the YAML. */
  readonly mistakes: readonly Mistake[];
  /** Position of the value at a path, or of the deepest existing part of the path. With `key`, of the key instead of its value. */
  position(path: readonly PropertyKey[], key?: boolean): YamlPosition;
}

export function readYaml(text: string, fileName: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, maxAliasCount: 100 } as never);
  const at = (offset: number): YamlPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const mistakes = document.errors.map((error): Mistake => {
    const { line, column } = at(error.pos[0]);
    return { where: `${fileName}:${line}:${column}`, line, setting: '', problem: `${error.message}.`, remedy: remedyFor(error.code) };
  });
  return {
    value: mistakes.length > 0 ? null : (document.toJS() as unknown),
    mistakes,
    position: (path, key = false) => at(offsetOf(document, path, key)),
  };
}

const remedyFor = (code: string): string => {
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'Indent with spaces.';
    case 'DUPLICATE_KEY':
      return 'Keep one of the two.';
    case 'BAD_INDENT':
      return 'Give keys of one section the same number of spaces.';
    default:
      return 'Correct the YAML of this line; text with `: ` or `#` in it needs quotes.';
  }
};

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], key: boolean): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const [depth, step] of path.entries()) {
    if (isSeq(node)) {
      const item: unknown = node.items[Number(step)];
      if (!item || isPair(item)) break;
      node = item as Node;
      offset = node.range?.[0] ?? offset;
      continue;
    }
    if (!isMap(node)) break;
    const pair = node.items.find((candidate) => isScalar(candidate.key) && String(candidate.key.value) === String(step));
    if (!pair) break;
    const keyOffset: number = (pair.key as Node).range?.[0] ?? offset;
    const value = pair.value as Node | null;
    offset = key && depth === path.length - 1 ? keyOffset : (value?.range?.[0] ?? keyOffset);
    // An empty value starts at the next token; its key is the better position.
    if (isScalar(value) && value.value === null && value.source === '') offset = keyOffset;
    node = value;
  }
  return offset;
}
