import type { Tree } from './citations.js';

/** Elements whose tags only format; their text is shown without them. Names that also stand for a value, such as `<input>`, are not among them. */
const formatting = new Set(
  (
    'a abbr b big blockquote br center code dd del details div dl dt em font h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s ' +
    'samp small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul'
  ).split(' '),
);
const tag = /<\/?([a-z][\w-]*)(?:\s[^<>]*)?\/?>/gi;
const comment = /^<!--[\s\S]*-->$/;
const lineBreak = /^<br\s*\/?>$/i;

/**
 * Keeps what stands between the tags of HTML and beside them: the sanitiser drops such nodes whole. `<br>` breaks the line, and a tag that HTML
 * does not know, as in `Array<string>`, is text.
 */
export const htmlAsText =
  () =>
  (tree: Tree): void =>
    visit(tree, true);

function visit(node: Tree, isFlow: boolean): void {
  if (!node.children) return;
  const areBlocks = isFlow && node.type !== 'paragraph' && node.type !== 'heading' && node.type !== 'tableCell';
  node.children = node.children.flatMap((child) => (child.type === 'html' ? shown(child.value ?? '', areBlocks) : [child]));
  for (const child of node.children) visit(child, areBlocks);
}

function shown(html: string, isBlock: boolean): Tree[] {
  if (comment.test(html)) return [];
  if (!isBlock && lineBreak.test(html)) return [{ type: 'break' }];
  const value = html.replace(tag, (whole, name: string) => (formatting.has(name.toLowerCase()) ? ' '.repeat(isBlock ? 1 : 0) : whole));
  if (value.trim() === '') return [];
  return [isBlock ? { type: 'paragraph', children: [{ type: 'text', value: value.trim() }] } : { type: 'text', value }];
}
