import { isValidElement, lazy, memo, type ReactNode, Suspense, useMemo, useRef } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { loadPart } from '../api/load-part.js';
import { CopyButton } from '../components/copy-button.js';
import { citations } from './citations.js';
import { htmlAsText } from './html-as-text.js';
import { markdownBlocks } from './markdown-blocks.js';
import { hideTex, shownTex } from './tex-marks.js';

/** Loaded with the first formula. */
const Formula = lazy(() => loadPart(() => import('./formula.js')));

/** What a model may display: no images, whose address it would choose, and no HTML of its own. */
const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['img', 'picture', 'source'].includes(name)),
  attributes: { ...defaultSchema.attributes, span: [['className', 'uncited', 'tex']] },
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
  const blocks = useMemo(() => markdownBlocks(hideTex(text)), [text]);
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
    ) : href.startsWith('#user-content-fnref') ? null : (
      <>{children}</>
    ),
  table: ({ children }) => (
    <div className="table-box" role="region" aria-label="Table" tabIndex={0}>
      <table className="table">{children}</table>
    </div>
  ),
  input: ({ checked }) => <input type="checkbox" checked={checked} disabled readOnly aria-label={checked ? 'Done' : 'Not done'} />,
  pre: ({ children }) => <Code>{children}</Code>,
  span: ({ className, children }) =>
    className === 'tex' ? (
      <Suspense fallback={<span>{children}</span>}>
        <Formula source={String(children)} />
      </Suspense>
    ) : (
      <span className={className}>{children}</span>
    ),
};

/** Code with its language, as the model names it, and a button that copies it. */
function Code({ children }: { readonly children?: ReactNode }) {
  const code = useRef<HTMLPreElement>(null);
  const { className = '' } = isValidElement<{ readonly className?: string }>(children) ? children.props : {};
  return (
    <div className="code-box">
      <div className="code-head">
        <span className="quiet">{/language-(\S+)/.exec(className)?.[1]}</span>
        <CopyButton what="the code" text={() => code.current?.textContent ?? ''} />
      </div>
      <pre ref={code} tabIndex={0} role="region" aria-label="Code">
        {children}
      </pre>
    </div>
  );
}

const Block = memo(
  ({ text, numbers, marksUncited }: { readonly text: string; readonly numbers: string; readonly marksUncited: boolean }) => {
    const own = new Set(numbers === '' ? [] : numbers.split(',').map(Number));
    return (
      <ReactMarkdown
        remarkPlugins={[remarkGfm, htmlAsText, citations({ numbers: own, marksRest: marksUncited && own.size > 0 }), shownTex]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        components={components}
      >
        {text}
      </ReactMarkdown>
    );
  },
);
Block.displayName = 'Block';
