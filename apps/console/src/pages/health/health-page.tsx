import type { ServicesReport } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { ErrorNote } from '../../components/error-note.js';
import { countText, counted, durationText } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Page, Panel, type Tone } from '../../components/page.js';
import { DeadLetters } from './dead-letters.js';

const tones: Readonly<Record<ServicesReport['dependencies'][number]['state'], Tone>> = { ok: 'good', red: 'bad', absent: 'plain' };

/** What is running, waiting or away, and what could not be handled. */
export default function HealthPage() {
  const { data, error, refetch } = useQuery({
    queryKey: ['services'],
    queryFn: ({ signal }) => api.get<ServicesReport>('/v1/admin/services', signal),
    refetchInterval: 3_000,
  });
  return (
    <Page
      title="Health"
      lead={data ? `Version ${data.version}, up for ${durationText(data.uptime_s * 1_000)}` : 'Services, stores and dead letters'}
      actions={
        data && <Badge tone={data.problems.length === 0 ? 'good' : 'bad'}>{data.problems.length === 0 ? 'ready' : 'not ready'}</Badge>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Reading the state" />}
      {data?.problems.map((problem) => (
        <div key={problem} className="note bad" role="alert">
          <div>{problem}</div>
        </div>
      ))}
      {data && (
        <div className="health-parts">
          <Panel title="Processes">
            <ul className="stack health-list">
              {data.processes.map(({ id, service, host, self }) => (
                <li key={id}>
                  <Badge tone="good">{service}</Badge> {host !== null && <span className="quiet">{host}</span>}{' '}
                  {self && <span className="quiet">(this gateway)</span>}
                </li>
              ))}
            </ul>
            {data.processes.length === 0 && <p className="quiet">No process holds a lease.</p>}
          </Panel>
          <Panel title="Dependencies">
            <ul className="stack health-list">
              {data.dependencies.map(({ name, state, sentence }) => (
                <li key={name}>
                  <Badge tone={tones[state]}>{state}</Badge> {name} {sentence !== null && <span className="quiet">{sentence}</span>}
                </li>
              ))}
            </ul>
          </Panel>
        </div>
      )}
      {data && <Consumers consumers={data.consumers} />}
      <DeadLetters consumers={data?.consumers ?? []} />
    </Page>
  );
}

function Consumers({ consumers }: { readonly consumers: ServicesReport['consumers'] }) {
  const waiting = consumers.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  return (
    <Panel title="Consumers" actions={<Badge tone={waiting > 0 ? 'busy' : 'good'}>{counted(waiting, 'record')} to do</Badge>}>
      <div className="table-box" tabIndex={0} role="region" aria-label="Consumers">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Group</th>
              <th scope="col">Service</th>
              <th scope="col" className="number">
                Lag
              </th>
              <th scope="col">Topics that wait</th>
            </tr>
          </thead>
          <tbody>
            {consumers.map(({ group, service, lag, topics }) => (
              <tr key={group}>
                <th scope="row">{group}</th>
                <td>{service}</td>
                <td className="number">{lag === null ? 'unknown' : countText(lag)}</td>
                <td>
                  {topics
                    .filter((one) => one.lag > 0)
                    .map((one) => `${one.topic} ${countText(one.lag)}`)
                    .join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
