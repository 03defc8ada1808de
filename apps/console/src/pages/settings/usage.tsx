import type { UsageReport } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { ErrorNote } from '../../components/error-note.js';
import { costText, countText } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Panel } from '../../components/page.js';

const groups = ['model', 'key', 'day', 'user'] as const;

/** Usage of this month, by model, key, day or end user. */
export function Usage() {
  const [by, setBy] = useState<(typeof groups)[number]>('model');
  const { data, error, refetch } = useQuery({
    queryKey: ['usage', by],
    queryFn: ({ signal }) => api.get<UsageReport>(`/v1/usage?group_by=${by}`, signal),
  });
  return (
    <Panel
      title="Usage"
      actions={
        <fieldset className="choice bare">
          <legend>Grouped by</legend>
          {groups.map((group) => (
            <label key={group}>
              <input type="radio" name="usage-by" checked={by === group} onChange={() => setBy(group)} />
              <span>{group}</span>
            </label>
          ))}
        </fieldset>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Reading usage" />}
      {data && (
        <>
          <p>
            Tenant {data.tenant}, {data.from} to {data.to}: cost <strong>{costText(data.total.cost)}</strong>, {countText(data.total.calls)}{' '}
            calls, {countText(data.total.prompt + data.total.completion)} tokens. Models without a configured price cost 0.
          </p>
          <div className="table-box" tabIndex={0} role="region" aria-label="Usage">
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">{by}</th>
                  <th scope="col" className="number">
                    Calls
                  </th>
                  <th scope="col" className="number">
                    Prompt
                  </th>
                  <th scope="col" className="number">
                    Replies
                  </th>
                  <th scope="col" className="number">
                    Cost
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.data.map((row, n) => (
                  <tr key={n}>
                    <th scope="row">{row[by] ?? 'not named'}</th>
                    <td className="number">{countText(row.calls)}</td>
                    <td className="number">{countText(row.prompt)}</td>
                    <td className="number">{countText(row.completion)}</td>
                    <td className="number">{costText(row.cost)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Panel>
  );
}
