import type { RunView, Source } from '@conclave/contracts';
import { useEffect, useRef } from 'react';
import { Badge } from '../components/page.js';
import { InsightNote } from './insight-note.js';
import type { LiveRun } from './run-fold.js';
import { capabilityText } from './task-words.js';

const kinds: Readonly<Record<Source['kind'], string>> = {
  web: 'web',
  corpus: 'document',
  expert: 'expert',
  tool: 'tool',
  graph: 'knowledge graph',
  collection: 'collection',
  memory: 'earlier run',
  request: 'sent with the question',
};

interface SourcesProps {
  readonly run: LiveRun;
  readonly record: RunView | undefined;
  readonly sources: readonly Source[];
  /** Number of the source that a citation in the answer points to. */
  readonly opened: number | null;
  readonly onOpen: (n: number | null) => void;
  readonly onTask: (id: string) => void;
}

/** The cited sources: each opens its text, the task that found it, and its insight of the knowledge graph, if it is one. */
export function Sources({ run, record, sources, opened, onOpen, onTask }: SourcesProps) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (opened !== null) void list.current?.querySelector<HTMLElement>(`#source-${opened}`)?.focus({ preventScroll: false });
  }, [opened]);
  if (sources.length === 0) return null;
  return (
    <section aria-label="Sources" className="stack">
      <h3>Sources</h3>
      <ol className="sources" ref={list}>
        {sources.map((source, index) => {
          const n = source.n ?? null;
          const passages = (record?.evidence ?? []).filter((passage) => passage.n === n);
          const isOpen = n !== null && n === opened;
          return (
            <li key={index} id={n === null ? undefined : `source-${n}`} tabIndex={-1} className={isOpen ? 'source open' : 'source'}>
              <p className="row">
                {n !== null && <strong className="source-number">{n}</strong>}
                <span className="source-title">
                  {source.url !== null && /^https?:/.test(source.url) ? (
                    <a href={source.url} target="_blank" rel="noopener noreferrer nofollow">
                      {source.title}
                    </a>
                  ) : (
                    source.title
                  )}
                  {source.call !== undefined && <span className="quiet"> ({source.call})</span>}
                </span>
                <Badge>{kinds[source.kind]}</Badge>
                {n !== null && (passages.length > 0 || source.insight) && (
                  <button type="button" className="button small" aria-expanded={isOpen} onClick={() => onOpen(isOpen ? null : n)}>
                    {isOpen ? 'Close' : 'What it says'}
                  </button>
                )}
              </p>
              {source.section && <p className="quiet">{source.section}</p>}
              {source.kind === 'corpus' && source.document && <p className="quiet">{source.document}</p>}
              {isOpen && (
                <div className="stack">
                  {passages.map(({ text, taskId }) => (
                    <figure key={`${taskId} ${text}`} className="passage">
                      <blockquote>{text}</blockquote>
                      <figcaption className="quiet">
                        Brought by{' '}
                        <button type="button" className="link" onClick={() => onTask(taskId)}>
                          {capabilityText(run.tasks.get(taskId)?.capability ?? 'task')} {taskId.split('/').at(-1)}
                        </button>{' '}
                        in {run.roundName} {Number(taskId.split('/').at(-2) ?? 0) + 1}
                      </figcaption>
                    </figure>
                  ))}
                  {source.insight && <InsightNote insight={source.insight} />}
                </div>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
