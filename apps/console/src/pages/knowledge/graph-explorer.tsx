import type { EntityList, EntityView } from '@conclave/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ApiError } from '../../api/client.js';
import { ErrorNote } from '../../components/error-note.js';
import { Loading } from '../../components/loading.js';
import { Empty, Panel } from '../../components/page.js';
import { GraphPicture } from './graph-picture.js';
import { Insight } from './insight.js';

/** Entities by name, and one of them with its neighbours. */
export function GraphExplorer() {
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [insight, setInsight] = useState<string | null>(null);
  const list = useQuery({
    queryKey: ['entities', search],
    queryFn: ({ signal }) => api.get<EntityList>(`/v1/knowledge/entities?limit=50&search=${encodeURIComponent(search)}`, signal),
    placeholderData: keepPreviousData,
  });
  const id = chosen ?? list.data?.data[0]?.id ?? null;
  const show = (entity: string): void => {
    setChosen(entity);
    setInsight(null);
  };
  const isEmpty = list.data?.data.length === 0 && search === '';
  if (isEmpty)
    return (
      <Empty>
        <p>The graph is empty. It learns facts and insights from answers that used evidence; ask something on the chat page.</p>
      </Empty>
    );
  if (list.error) return <ErrorNote error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <div className="knowledge-graph">
      <Panel title="Entities">
        <label className="field">
          <span>Search by name</span>
          <input type="search" value={search} onChange={({ target }) => setSearch(target.value)} />
        </label>
        {!list.data && <Loading what="Reading entities" />}
        <ul className="knowledge-list">
          {list.data?.data.map((entity) => (
            <li key={entity.id}>
              <button
                type="button"
                className="button plain"
                aria-current={entity.id === id ? 'true' : undefined}
                onClick={() => show(entity.id)}
              >
                {entity.name} {entity.type && <span className="quiet">{entity.type}</span>}
              </button>
            </li>
          ))}
        </ul>
        {list.data?.data.length === 0 && <p className="quiet">No name contains this text.</p>}
        {list.data?.nextAfter && <p className="quiet">There are more: search for a part of the name.</p>}
      </Panel>
      {id !== null && <Neighbourhood id={id} insight={insight} onEntity={show} onInsight={setInsight} />}
    </div>
  );
}

interface NeighbourhoodProps {
  readonly id: string;
  readonly insight: string | null;
  readonly onEntity: (id: string) => void;
  readonly onInsight: (id: string) => void;
}

function Neighbourhood({ id, insight, onEntity, onInsight }: NeighbourhoodProps) {
  const [offset, setOffset] = useState({ of: id, at: 0 });
  const at = offset.of === id ? offset.at : 0;
  const { data, error, refetch } = useQuery({
    queryKey: ['entity', id, at],
    queryFn: ({ signal }) => api.get<EntityView>(`/v1/knowledge/entities/${encodeURIComponent(id)}?limit=24&offset=${at}`, signal),
    placeholderData: keepPreviousData,
  });
  if (error instanceof ApiError) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Reading neighbours" />;
  return (
    <div className="stack">
      <Panel title={data.name}>
        <GraphPicture entity={data} insight={insight} onEntity={onEntity} onInsight={onInsight} />
        {data.relations.length + data.insights.length === 0 && <p className="quiet">It has no links, apart from badly rated ones.</p>}
        {data.relations.length > 0 && (
          <div className="table-box" tabIndex={0} role="region" aria-label={`Relations of ${data.name}`}>
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Relation</th>
                  <th scope="col">Source</th>
                  <th scope="col" className="number">
                    Trust
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.relations.map((relation) => (
                  <tr key={relation.id}>
                    <td>
                      <EntityLink entity={relation.subject} own={data.id} onEntity={onEntity} /> <code>{relation.relation}</code>{' '}
                      <EntityLink entity={relation.object_entity} own={data.id} onEntity={onEntity} />
                    </td>
                    <td>
                      {relation.verified ? 'accepted by a person' : relation.source} <span className="quiet">{relation.domain}</span>
                    </td>
                    <td className="number">{relation.trust.toFixed(2)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {(at > 0 || data.nextOffset !== null) && (
          <div className="row">
            <button type="button" className="button" disabled={at === 0} onClick={() => setOffset({ of: id, at: Math.max(0, at - 24) })}>
              Earlier
            </button>
            <button
              type="button"
              className="button"
              disabled={data.nextOffset === null}
              onClick={() => setOffset({ of: id, at: data.nextOffset ?? 0 })}
            >
              More
            </button>
          </div>
        )}
      </Panel>
      {insight !== null && <Insight id={insight} />}
    </div>
  );
}

interface EntityLinkProps {
  readonly entity: EntityView['relations'][number]['subject'];
  readonly own: string;
  readonly onEntity: (id: string) => void;
}

function EntityLink({ entity, own, onEntity }: EntityLinkProps) {
  if (entity.id === own) return <strong>{entity.name}</strong>;
  return (
    <button type="button" className="link" onClick={() => onEntity(entity.id)}>
      {entity.name}
    </button>
  );
}
