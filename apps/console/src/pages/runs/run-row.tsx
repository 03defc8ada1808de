import type { RunView } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.js';
import { costText, countText, durationText, Moment } from '../../components/figures.js';
import { Badge } from '../../components/page.js';
import { outcomeOf } from '../../run/outcome-words.js';
import { runKey } from '../../run/use-run.js';
import type { RunListItem } from './run-list.js';

const openEveryMs = 2_000;

/** Reads the record of a run while its row is visible; the record of an ended run once. */
function useRecord({ id, terminal }: RunListItem) {
  const row = useRef<HTMLTableRowElement>(null);
  const [inSight, setInSight] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((seen) => setInSight(seen.some(({ isIntersecting }) => isIntersecting)), {
      rootMargin: '200px',
    });
    if (row.current) observer.observe(row.current);
    return () => observer.disconnect();
  }, []);
  const { data } = useQuery({
    queryKey: runKey(id),
    queryFn: ({ signal }) => api.get<RunView>(`/v1/runs/${encodeURIComponent(id)}`, signal),
    enabled: inSight,
    staleTime: ({ state }) => (state.data?.terminal ? Infinity : openEveryMs),
    refetchInterval: ({ state }) => (state.data?.terminal || (terminal && state.data === undefined) ? false : openEveryMs),
  });
  return { row, record: data };
}

interface RowProps {
  readonly item: RunListItem;
  readonly chosen: boolean;
  readonly onChoose: (chosen: boolean) => void;
}

export function RunRow({ item, chosen, onChoose }: RowProps) {
  const { row, record } = useRecord(item);
  const [word, tone] = outcomeOf(record?.terminal ? record : item);
  const total = record?.usage.total;
  const waste = record?.usage.recorded ? record.usage.recorded.cost - record.usage.total.cost : 0;
  const replaced = record?.rounds.flatMap(({ tasks }) => tasks).filter(({ superseded }) => superseded).length ?? 0;
  const from = record?.startedAt ?? record?.acceptedAt;
  return (
    <tr ref={row} data-run={item.id}>
      <td>
        <input
          type="checkbox"
          checked={chosen}
          onChange={({ target }) => onChoose(target.checked)}
          aria-label={`Compare: ${item.question}`}
        />
      </td>
      <td>
        <Link to="/console/runs/$runId" params={{ runId: item.id } as never} className="runs-question">
          {item.question || item.id}
        </Link>
      </td>
      <td>
        <Badge tone={tone}>{word}</Badge>
      </td>
      <td>
        <Moment at={item.acceptedAt} />
      </td>
      <td>{item.template}</td>
      <td className="number">{record ? countText(record.roundsUsed) : '...'}</td>
      <td className="number">{total ? countText(total.calls) : '...'}</td>
      <td className="number">{total ? countText(total.prompt + total.completion) : '...'}</td>
      <td className="number">
        {total ? costText(total.cost) : '...'}
        {(waste > 1e-9 || replaced > 0) && (
          <span className="quiet runs-waste">
            {[replaced > 0 ? `${replaced} replaced` : '', waste > 1e-9 ? `${costText(waste)} discarded` : ''].filter(Boolean).join(', ')}
          </span>
        )}
      </td>
      <td className="number">
        {record?.completedAt && from ? durationText(Math.max(0, record.completedAt - from)) : record ? '-' : '...'}
      </td>
    </tr>
  );
}
