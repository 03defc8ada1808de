import type { RunView } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../api/client.js';
import { durationText } from '../components/figures.js';
import { Badge } from '../components/page.js';
import { wordDiff } from './word-diff.js';

/** Why an answer came from a cache: which cache, the distance between the questions, a comparison of both, and the age of the answer. */
export function CacheNote({ record }: { readonly record: RunView }) {
  const cached = record.cached!;
  const { data: earlier } = useQuery({
    queryKey: ['run', cached.runId],
    queryFn: ({ signal }) => api.get<RunView>(`/v1/runs/${encodeURIComponent(cached.runId)}`, signal),
    staleTime: Infinity,
  });
  return (
    <div className="note" data-cache={cached.origin}>
      <div className="stack">
        <p>
          <Badge tone="busy">{cached.origin === 'exact' ? 'exact cache' : 'semantic cache'}</Badge>{' '}
          {cached.origin === 'exact' ? 'The same question was answered before' : 'A question of the same meaning was answered before'}
          {cached.distance !== null && <> (distance {cached.distance.toFixed(3)})</>}
          {earlier?.completedAt && record.acceptedAt >= earlier.completedAt && (
            <>, {durationText(record.acceptedAt - earlier.completedAt)} ago</>
          )}
          .{' '}
          <Link to="/console/chat/$runId" params={{ runId: cached.runId } as never}>
            The run that gave it
          </Link>
        </p>
        {earlier && earlier.question !== record.question && (
          <p className="question-diff">
            {wordDiff(earlier.question, record.question).map(({ kind, text }, n) =>
              kind === 'same' ? <span key={n}>{text} </span> : kind === 'gone' ? <del key={n}>{text} </del> : <ins key={n}>{text} </ins>,
            )}
          </p>
        )}
        <p className="quiet">&quot;Ask again&quot; below asks the models without using the caches.</p>
      </div>
    </div>
  );
}
