import type { CacheExplanation, RunList } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { ErrorNote } from '../../components/error-note.js';
import { durationText } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Panel } from '../../components/page.js';
import { wordDiff } from '../../run/word-diff.js';

const kinds: Readonly<Record<CacheExplanation['kind'], string>> = {
  exact: 'exact hit',
  semantic: 'semantic hit',
  none: 'no hit',
  bypassed: 'bypassed',
  off: 'no cache',
};

/** Why a run was answered by a cache or was not, with the nearest misses. */
export function Explanation() {
  const [chosen, setChosen] = useState('');
  const { data: runs } = useQuery({
    queryKey: ['runs', 'latest'],
    queryFn: ({ signal }) => api.get<RunList>('/v1/runs?limit=20', signal),
  });
  const run = chosen || runs?.data[0]?.id || null;
  return (
    <Panel title="Why a run was answered from a cache, or was not">
      {runs?.data.length === 0 && <p className="quiet">Nothing was asked yet.</p>}
      {runs && runs.data.length > 0 && (
        <label className="field">
          <span>Run</span>
          <select value={run ?? ''} onChange={({ target }) => setChosen(target.value)}>
            {runs.data.map(({ id, question }) => (
              <option key={id} value={id}>
                {(question ?? id).slice(0, 90)}
              </option>
            ))}
          </select>
        </label>
      )}
      {run !== null && <OfRun run={run} />}
    </Panel>
  );
}

function OfRun({ run }: { readonly run: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['cache-explanation', run],
    queryFn: ({ signal }) => api.get<CacheExplanation>(`/v1/runs/${encodeURIComponent(run)}/cache`, signal),
  });
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Looking for the reason" />;
  const { kind, sentence, accepted, nearest, question, threshold } = data;
  return (
    <div className="stack" data-cache-kind={kind}>
      <p>
        <Badge tone={accepted ? 'good' : 'plain'}>{kinds[kind]}</Badge> {sentence}
      </p>
      {accepted && (
        <Compared
          title="Accepted"
          run={accepted.run}
          earlier={accepted.question}
          question={question}
          facts={[
            ...(accepted.distance === null ? [] : [`distance ${accepted.distance.toFixed(3)} of less than ${threshold}`]),
            `answer ${durationText(accepted.age_ms)} old`,
          ]}
        />
      )}
      {nearest.slice(0, 3).map((miss, n) => (
        <Compared
          key={miss.run}
          title={n === 0 ? 'Nearest miss' : 'Further miss'}
          run={miss.run}
          earlier={miss.question}
          question={question}
          facts={[
            `distance ${miss.distance.toFixed(3)}, ${miss.within ? `less than ${threshold}` : `not less than ${threshold}`}`,
            ...(miss.differences.length > 0 ? [`other words: ${miss.differences.join(', ')}`] : []),
          ]}
        />
      ))}
    </div>
  );
}

interface ComparedProps {
  readonly title: string;
  readonly run: string;
  readonly earlier: string;
  readonly question: string;
  readonly facts: readonly string[];
}

function Compared({ title, run, earlier, question, facts }: ComparedProps) {
  return (
    <section className="caches-compared" aria-label={title}>
      <h3>{title}</h3>
      <p className="quiet">
        {facts.join('; ')}.{' '}
        <Link to="/console/chat/$runId" params={{ runId: run } as never}>
          The earlier run
        </Link>
      </p>
      <p className="question-diff">
        {wordDiff(earlier, question).map(({ kind, text }, n) =>
          kind === 'same' ? <span key={n}>{text} </span> : kind === 'gone' ? <del key={n}>{text} </del> : <ins key={n}>{text} </ins>,
        )}
      </p>
    </section>
  );
}
