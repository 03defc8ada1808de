import { memo, useMemo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { citations } from './citations.js';
import { markdownBlocks } from './markdown-blocks.js';

/** What a model may display: no images, whose address it would choose, and no HTML of its own. */
const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['img', 'picture', 'source'].includes(name)),
  attributes: { ...defaultSchema.attributes, span: [['className', 'uncited']] },
};

interface MarkdownProps {
  readonly text: string;
  /** Numbers of known sources; `[n]` with another number remains text. */
  readonly cited?: readonly number[];
  /** Marks sentences that cite no source. */
  readonly marksUncited?: boolean;
  readonly onCitation?: (n: number) => void;
}

/** Markdown from a model, sanitised. A growing text is parsed again only from its last block on. */
export default function Markdown({ text, cited = [], marksUncited = false, onCitation }: MarkdownProps) {
  const blocks = useMemo(() => markdownBlocks(text), [text]);
  const numbers = cited.join(',');
  return (
    <div
      className="markdown"
      onClick={(event) => {
        const link = (event.target as Element).closest<HTMLAnchorElement>('a.citation');
        if (!link || !onCitation) return;
        event.preventDefault();
        onCitation(Number(link.textContent));
      }}
    >
      {blocks.map((block, n) => (
        <Block key={n} text={block} numbers={numbers} marksUncited={marksUncited} />
      ))}
    </div>
  );
}

/** A heading of an answer is below the question, which is a second-level heading. */
const components: Components = {
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  h4: ({ children }) => <h5>{children}</h5>,
  a: ({ href = '', children }) =>
    href.startsWith('#source-') ? (
      <a className="citation" href={href} aria-label={`Source ${String(children)}`}>
        {children}
      </a>
    ) : /^(https?|mailto):/i.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <>{children}</>
    ),
  table: ({ children }) => (
    <div className="table-box" role="region" aria-label="Table" tabIndex={0}>
      <table className="table">{children}</table>
    </div>
  ),
  pre: ({ children }) => (
    <pre tabIndex={0} role="region" aria-label="Code">
      {children}
    </pre>
  ),
};

const Block = memo(
  ({ text, numbers, marksUncited }: { readonly text: string; readonly numbers: string; readonly marksUncited: boolean }) => {
    const own = new Set(numbers === '' ? [] : numbers.split(',').map(Number));
    return (
      <ReactMarkdown
        remarkPlugins={[remarkGfm, citations({ numbers: own, marksRest: marksUncited && own.size > 0 })]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        components={components}
      >
        {text}
      </ReactMarkdown>
    );
  },
);
Block.displayName = 'Block';
