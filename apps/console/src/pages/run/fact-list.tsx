import type { RunFactList } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { ErrorNote } from '../../components/error-note.js';
import { counted, Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';

/** Facts that are drawn initially; a long run has thousands. */
const linesAtOnce = 200;

/** Every fact of the engine as one sentence per line, in the order in which it was recorded. Read when opened. */
export function FactList({ runId, ended }: { readonly runId: string; readonly ended: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const [lines, setLines] = useState(linesAtOnce);
  const { data, error, refetch } = useQuery({
    queryKey: ['run', runId, 'facts', ended],
    queryFn: ({ signal }) => api.get<RunFactList>(`/v1/runs/${encodeURIComponent(runId)}/facts`, signal),
    enabled: isOpen,
  });
  const facts = data?.data.filter(({ quiet }) => !quiet) ?? [];
  return (
    <details className="panel run-facts" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <h2>Facts</h2> <span className="quiet">what the engine found, step by step</span>
      </summary>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : !data ? <Loading what="Reading the log" /> : null}
      {data && (
        <>
          <ol className="run-fact-lines" aria-label="Facts" tabIndex={0}>
            {facts.slice(0, lines).map(({ step, at, kind, sentence }, n) => (
              <li key={n} data-fact={kind}>
                <span className="quiet figure">
                  {step} · <Moment at={at} precise />
                </span>
                <span>{sentence}</span>
              </li>
            ))}
          </ol>
          {facts.length > lines && (
            <button type="button" className="button" onClick={() => setLines(lines + linesAtOnce)}>
              Show more of {counted(facts.length, 'fact')}
            </button>
          )}
        </>
      )}
    </details>
  );
}
