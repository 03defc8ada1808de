/** The parts of a Markdown tree that citations and HTML need. */
export interface Tree {
  readonly type: string;
  value?: string;
  /** Of a reference to a definition, as it is written. */
  label?: string | null;
  identifier?: string;
  children?: Tree[];
  url?: string;
  title?: string | null;
  alt?: string | null;
  data?: { readonly hName?: string; readonly hProperties?: Readonly<Record<string, unknown>> };
}

const mark = /\[(\d{1,3})\]/g;
const skipped = new Set(['link', 'linkReference', 'inlineCode', 'code', 'heading']);

/** Turns `[3]` into a link to the third source, and marks sentences without a source if `marksRest`. */
export function citations({ numbers, marksRest }: { readonly numbers: ReadonlySet<number>; readonly marksRest: boolean }) {
  return () =>
    (tree: Tree): void => {
      visit(tree, numbers, marksRest);
    };
}

function visit(node: Tree, numbers: ReadonlySet<number>, marksRest: boolean): void {
  if (!node.children || skipped.has(node.type)) return;
  if (node.type === 'paragraph' && marksRest) node.children = sentences(node.children, numbers);
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text') return linked(child.value ?? '', numbers);
    // A model may define the address of `[1]` itself; the number means the source.
    const isSource = child.type === 'linkReference' && numbers.has(Number(child.label));
    return isSource ? linked(`[${child.label}]`, numbers) : [child];
  });
  for (const child of node.children) visit(child, numbers, marksRest && child.type !== 'emphasis');
}

function linked(text: string, numbers: ReadonlySet<number>): Tree[] {
  const parts: Tree[] = [];
  let at = 0;
  for (const match of text.matchAll(mark)) {
    const n = Number(match[1]);
    if (!numbers.has(n)) continue;
    if (match.index > at) parts.push({ type: 'text', value: text.slice(at, match.index) });
    parts.push({ type: 'link', url: `#source-${n}`, children: [{ type: 'text', value: String(n) }] });
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push({ type: 'text', value: text.slice(at) });
  return parts;
}

/** Wraps sentences that cite no source. Only paragraphs of plain text are split: elsewhere a sentence may span several nodes. */
function sentences(children: readonly Tree[], numbers: ReadonlySet<number>): Tree[] {
  if (!children.every(({ type }) => type === 'text')) return [...children];
  const text = children.map(({ value }) => value ?? '').join('');
  return text.split(/(?<=[.!?](?:\s*\[\d{1,3}\])*)\s+(?=[^[])/).flatMap((sentence, n): Tree[] => {
    const isCited = [...sentence.matchAll(mark)].some(([, number]) => numbers.has(Number(number)));
    const space: Tree[] = n === 0 ? [] : [{ type: 'text', value: ' ' }];
    const part: Tree = { type: 'text', value: sentence };
    return isCited || sentence.trim() === ''
      ? [...space, part]
      : [...space, { type: 'emphasis', data: { hName: 'span', hProperties: { className: ['uncited'] } }, children: [part] }];
  });
}
