import type { InsightView } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import { ErrorNote } from '../../components/error-note.js';
import { Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Panel } from '../../components/page.js';

/** A synthesis with the runs, answers and sources that it was learned from. */
export function Insight({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['insight', id],
    queryFn: ({ signal }) => api.get<InsightView>(`/v1/knowledge/insights/${encodeURIComponent(id)}`, signal),
  });
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Reading the insight" />;
  return (
    <Panel title="Insight" actions={<Badge tone={data.flagged ? 'bad' : 'good'}>trust {data.trust.toFixed(2)}</Badge>}>
      <p>{data.text}</p>
      <p className="quiet">
        {data.insight_type} about {data.entities.join(', ')}; {data.domain}, confidence {data.confidence.toFixed(2)}
      </p>
      <h3>Learned from</h3>
      <ul className="stack">
        {data.learned_from.map(({ run, at, answer, sources }) => (
          <li key={run}>
            <Link to="/console/chat/$runId" params={{ runId: run } as never}>
              {run}
            </Link>{' '}
            {at !== null && <Moment at={at} />}
            {answer !== null && <blockquote className="knowledge-quote">{answer}</blockquote>}
            {sources.length > 0 && <p className="quiet">Sources: {sources.map(({ title }) => title).join(', ')}</p>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
