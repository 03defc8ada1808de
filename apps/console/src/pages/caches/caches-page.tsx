import type { CachePurged, CacheReport } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { ErrorNote } from '../../components/error-note.js';
import { countText, counted, durationText, Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Page, Panel } from '../../components/page.js';
import { Distances } from './distances.js';
import { Explanation } from './explanation.js';

type Layer = CacheReport['layers'][number];

/** The lookups of the tenant's caches, with explanations. */
export default function CachesPage() {
  const { data, error, refetch } = useQuery({
    queryKey: ['caches'],
    queryFn: ({ signal }) => api.get<CacheReport>('/v1/admin/caches', signal),
    refetchInterval: 10_000,
  });
  return (
    <Page title="Caches" lead="Answers and plans that are reused, and why a question found one or did not">
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Reading the caches" />}
      {data && (
        <>
          <Panel title="Hits by layer">
            <p className="quiet">
              Tenant {data.tenant}. Counted at this gateway since its start, <Moment at={data.since} />.
            </p>
            <div className="table-box" tabIndex={0} role="region" aria-label="Hits by layer">
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">Layer</th>
                    <th scope="col">Hits</th>
                    <th scope="col" className="number">
                      Lookups
                    </th>
                    <th scope="col">Kept for</th>
                    <th scope="col">
                      <span className="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.layers.map((layer) => (
                    <Row key={layer.layer} layer={layer} />
                  ))}
                </tbody>
              </table>
            </div>
          </Panel>
          <Panel title="How near earlier questions were">
            <Distances distances={data.distances} />
          </Panel>
        </>
      )}
      <Explanation />
    </Page>
  );
}

function Row({ layer: { layer, what, keeps_s: keeps, lookups, hits, failed, purged_at: purgedAt } }: { readonly layer: Layer }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [removed, setRemoved] = useState<number | null>(null);
  const purge = useMutation({
    mutationFn: () => api.delete<CachePurged>(`/v1/admin/caches/${layer}`),
    onSuccess: (purged) => {
      setRemoved(purged.removed);
      dialog.current?.close();
      return queries.invalidateQueries({ queryKey: ['caches'] });
    },
  });
  const share = lookups ? (hits ?? 0) / lookups : 0;
  return (
    <tr data-layer={layer}>
      <th scope="row">
        {layer}
        <br />
        <span className="quiet">{what}</span>
      </th>
      <td>
        {hits === null ? (
          <span className="quiet">counted by the workers</span>
        ) : (
          <>
            <meter className="caches-share" value={share} max={1} aria-label={`${layer}: share of hits`} />{' '}
            <span className="figure">
              {countText(hits)} ({Math.round(share * 100)} %)
            </span>
            {failed ? <span className="quiet"> {counted(failed, 'failed lookup')}</span> : null}
          </>
        )}
      </td>
      <td className="number">{lookups === null ? '' : countText(lookups)}</td>
      <td>
        {keeps === null
          ? 'depends on the finding'
          : keeps >= 86_400
            ? counted(Math.round(keeps / 86_400), 'day')
            : durationText(keeps * 1_000)}
        {purgedAt !== null && (
          <>
            <br />
            <span className="quiet">
              emptied <Moment at={purgedAt} />
            </span>
          </>
        )}
      </td>
      <td>
        <button
          type="button"
          className="button small danger"
          onClick={() => dialog.current?.showModal()}
          aria-label={`Empty the cache ${layer}`}
        >
          Empty
        </button>
        {removed !== null && (
          <p className="quiet" role="status">
            {counted(removed, 'entry', 'entries')} removed
          </p>
        )}
        <dialog ref={dialog} aria-label={`Empty the cache ${layer}?`}>
          <div className="stack">
            <p>
              Empty the cache <strong>{layer}</strong> ({what}) of this tenant? Later questions are answered anew. The audit records it.
            </p>
            {purge.error && <ErrorNote error={purge.error} />}
            <div className="row">
              <button type="button" className="button danger" disabled={purge.isPending} onClick={() => purge.mutate()}>
                Empty it
              </button>
              <button type="button" className="button" onClick={() => dialog.current?.close()}>
                Keep it
              </button>
            </div>
          </div>
        </dialog>
      </td>
    </tr>
  );
}
