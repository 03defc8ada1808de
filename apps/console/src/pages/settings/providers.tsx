import type { ProviderList, ProviderTest, ProviderView } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.js';
import { ErrorNote } from '../../components/error-note.js';
import { Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Panel } from '../../components/page.js';

type Wanted =
  { readonly name: string; readonly model?: string | undefined } | { readonly base_url: string; readonly model?: string | undefined };

const useTest = () => useMutation({ mutationFn: (wanted: Wanted) => api.post<ProviderTest>('/v1/admin/providers/test', wanted) });

/** Model servers that the system knows, and a test of another one. */
export function Providers() {
  const { data, error, refetch } = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => api.get<ProviderList>('/v1/admin/providers', signal),
  });
  return (
    <>
      <Panel title="Model servers">
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="Looking at the model servers" />}
        <ul className="stack settings-list">
          {data?.data.map((provider) => (
            <Provider key={provider.name} provider={provider} />
          ))}
        </ul>
      </Panel>
      <Another />
    </>
  );
}

function Provider({ provider }: { readonly provider: ProviderView }) {
  const { name, base_url: address, from, reachable, note, paid, models, slots, breaker } = provider;
  const test = useTest();
  const chat = models.filter(({ kind }) => kind === 'chat');
  return (
    <li className="settings-version">
      <div className="row">
        <strong>{name}</strong>
        <Badge tone={reachable ? 'good' : 'bad'}>{reachable ? 'answers' : 'does not answer'}</Badge>
        {paid && <Badge tone="warn">paid</Badge>}
        {breaker && breaker.state !== 'closed' && <Badge tone="bad">breaker {breaker.state}</Badge>}
        <span className="quiet">
          {address ?? 'no server'}; {from}; {slots.used} of {slots.limit} slots in use
          {breaker !== null && breaker.since !== null && (
            <>
              ; opened <Moment at={breaker.since} />
            </>
          )}
        </span>
        <button
          type="button"
          className="button small"
          disabled={test.isPending}
          aria-label={`Test ${name}`}
          onClick={() => test.mutate({ name, model: chat[0]?.id })}
        >
          Test
        </button>
      </div>
      {note && <p className="quiet">{note}</p>}
      <details>
        <summary>{models.length === 1 ? '1 model' : `${models.length} models`}</summary>
        <p className="settings-models">{models.map(({ id }) => id).join(', ')}</p>
      </details>
      {test.isPending && <Loading what="Testing" />}
      {test.error && <ErrorNote error={test.error} />}
      {test.data && <Tested test={test.data} />}
    </li>
  );
}

function Tested({ test: { ok, sentence, yaml } }: { readonly test: ProviderTest }) {
  return (
    <div className={`note ${ok ? '' : 'bad'}`} role="status">
      <div className="stack">
        <p>
          <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'works' : 'does not work'}</Badge> {sentence}
        </p>
        {yaml !== null && (
          <>
            <p className="quiet">To use it, add these lines to conclave.yaml and start Conclave again:</p>
            <pre className="settings-diff" tabIndex={0} role="region" aria-label="Lines for conclave.yaml">
              {yaml}
            </pre>
          </>
        )}
      </div>
    </div>
  );
}

function Another() {
  const [address, setAddress] = useState('');
  const [model, setModel] = useState('');
  const test = useTest();
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    test.mutate({ base_url: address, model: model || undefined });
  };
  return (
    <Panel title="Test another server">
      <p className="quiet">It gets no key. Servers that need one are tested once they are in conclave.yaml.</p>
      <form className="stack" onSubmit={onSubmit}>
        <label className="field">
          <span>Address of an OpenAI-compatible server</span>
          <input value={address} onChange={({ target }) => setAddress(target.value)} placeholder="http://127.0.0.1:11434/v1" required />
        </label>
        <label className="field">
          <span>Model for one small call (optional)</span>
          <input value={model} onChange={({ target }) => setModel(target.value)} />
        </label>
        <div className="row">
          <button type="submit" className="button primary" disabled={test.isPending}>
            Test
          </button>
        </div>
      </form>
      {test.isPending && <Loading what="Testing" />}
      {test.error && <ErrorNote error={test.error} />}
      {test.data && <Tested test={test.data} />}
    </Panel>
  );
}
