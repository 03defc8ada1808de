import type { InsightView, Source } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../api/client.js';
import { Badge } from '../components/page.js';

/** An insight of the knowledge graph that an answer cites: its text, its trust, and the runs it was learned from. */
export function InsightNote({ insight }: { readonly insight: NonNullable<Source['insight']> }) {
  const { data, error } = useQuery({
    queryKey: ['insight', insight.id],
    queryFn: ({ signal }) => api.get<InsightView>(`/v1/knowledge/insights/${encodeURIComponent(insight.id)}`, signal),
  });
  return (
    <div className="stack insight" data-insight={insight.id}>
      <p className="quiet">
        Insight <code>{insight.id}</code> of the knowledge graph, learned from {insight.runs.length} earlier{' '}
        {insight.runs.length === 1 ? 'run' : 'runs'}.
      </p>
      {error && <p className="quiet">{error.message}</p>}
      {data && (
        <>
          <blockquote>{data.text}</blockquote>
          <p className="row">
            <Badge tone={data.flagged ? 'bad' : 'plain'}>{data.flagged ? 'rated badly' : `trust ${data.trust.toFixed(2)}`}</Badge>
            {data.entities.map((name) => (
              <Badge key={name}>{name}</Badge>
            ))}
          </p>
          <ul className="insight-runs">
            {data.learned_from.map(({ run, answer }) => (
              <li key={run}>
                <Link to="/console/runs/$runId" params={{ runId: run } as never}>
                  {answer?.slice(0, 120) ?? run}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
