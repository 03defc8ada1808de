import type { Contradiction, ContradictionList } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { ErrorNote } from '../../components/error-note.js';
import { Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Empty, Panel } from '../../components/page.js';

const states = ['open', 'accepted', 'rejected'] as const;
const reasons: Readonly<Record<Contradiction['reason'], string>> = {
  opposed: 'says the opposite',
  inverse: 'turns a one-way relation around',
  replaced: 'names another one where only one can be right',
};

/** Facts that contradict the graph and wait for a person's decision. */
export function Quarantine() {
  const [state, setState] = useState<(typeof states)[number]>('open');
  const { data, error, refetch } = useQuery({
    queryKey: ['quarantine', state],
    queryFn: ({ signal }) => api.get<ContradictionList>(`/v1/admin/knowledge/quarantine?state=${state}`, signal),
  });
  const decide = useMutation({
    mutationFn: ({ id, accept }: { readonly id: string; readonly accept: boolean }) =>
      api.post<Contradiction>(`/v1/admin/knowledge/quarantine/${encodeURIComponent(id)}`, { accept }),
    onSuccess: () => Promise.all(['quarantine', 'knowledge', 'entity'].map((name) => queries.invalidateQueries({ queryKey: [name] }))),
  });
  return (
    <Panel
      title="Contradictions"
      actions={
        <fieldset className="choice bare">
          <legend>State of the contradictions</legend>
          {states.map((name) => (
            <label key={name}>
              <input type="radio" name="quarantine-state" checked={state === name} onChange={() => setState(name)} />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
      }
    >
      <p className="quiet">A fact that contradicts the graph is kept apart until someone decides. The first decision is final.</p>
      {(error ?? decide.error) && <ErrorNote error={error ?? decide.error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Reading contradictions" />}
      {data?.data.length === 0 && (
        <Empty>
          <p>{state === 'open' ? 'Nothing waits for a decision.' : `Nothing was ${state}.`}</p>
        </Empty>
      )}
      <ul className="stack knowledge-list">
        {data?.data.map((one) => (
          <li key={one.id} className="note warn">
            <div>
              <p>
                <strong>{one.subject}</strong> <code>{one.relation}</code> <strong>{one.object_name}</strong>
              </p>
              <p className="quiet">
                It {reasons[one.reason]}: {one.contradicts.join('; ')}. Stated by {one.source} in {one.runs.join(', ')},{' '}
                <Moment at={one.at} />
              </p>
              {one.decidedAt !== null && (
                <p className="quiet">
                  <Badge tone={one.state === 'accepted' ? 'good' : 'bad'}>{one.state}</Badge> by {one.decidedBy},{' '}
                  <Moment at={one.decidedAt} />
                </p>
              )}
            </div>
            {one.state === 'open' && (
              <div className="row knowledge-decision">
                <button
                  type="button"
                  className="button"
                  disabled={decide.isPending}
                  onClick={() => decide.mutate({ id: one.id, accept: true })}
                >
                  Accept
                </button>
                <button
                  type="button"
                  className="button danger"
                  disabled={decide.isPending}
                  onClick={() => decide.mutate({ id: one.id, accept: false })}
                >
                  Reject
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
