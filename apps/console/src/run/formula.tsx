import temml from 'temml';
import { useLayoutEffect, useMemo, useRef } from 'react';
import { texOf } from './tex-marks.js';

/** Characters of a formula in a line; a longer one can be scrolled. */
const longestInLine = 60;

/** The parts of Temml's tree that are used here. */
interface MathNode {
  readonly attributes?: Record<string, string>;
  readonly style?: Record<string, string>;
  readonly children?: readonly MathNode[];
  toNode(): Node;
}

/** A formula of a model as MathML, which browsers draw and screen readers read; its source, if it is not valid TeX. */
export default function Formula({ source }: { readonly source: string }) {
  const place = useRef<HTMLSpanElement>(null);
  const { tex, isDisplay } = texOf(source);
  const drawn = useMemo(() => draw(tex, isDisplay), [tex, isDisplay]);
  useLayoutEffect(() => {
    if (drawn) place.current?.replaceChildren(drawn.toNode());
  }, [drawn]);
  if (!drawn) return <code>{source}</code>;
  if (!isDisplay && tex.length <= longestInLine) return <span ref={place} className="tex" />;
  return <span ref={place} className={isDisplay ? 'tex wide display' : 'tex wide'} role="group" aria-label="Formula" tabIndex={0} />;
}

function draw(tex: string, displayMode: boolean): MathNode | null {
  try {
    // Without trust, no command makes a link or an image; the limits keep a formula from growing without end.
    const options = {
      displayMode,
      wrap: displayMode ? ('none' as const) : ('tex' as const),
      throwOnError: true,
      trust: false,
      maxSize: [20, 40] as [number, number],
      maxExpand: 300,
    };
    const tree = temml.__renderToMathMLTree(tex, options) as MathNode;
    moveStyles(tree);
    return tree;
  } catch (error) {
    if (error instanceof temml.ParseError) return null;
    throw error;
  }
}

/** The policy of the page refuses style attributes, and allows the same styles as properties. */
function moveStyles({ attributes, style, children = [] }: MathNode): void {
  const { style: text } = attributes ?? {};
  if (text !== undefined && style) {
    for (const rule of text.split(';')) {
      const [name, value] = rule.split(':');
      if (value !== undefined) style[name!.trim()] = value.trim();
    }
    delete attributes!['style'];
  }
  for (const child of children) moveStyles(child);
}
