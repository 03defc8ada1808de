import type { ProviderList, ProviderTest } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.js';
import { useSession } from '../../api/session.js';
import { ErrorNote } from '../../components/error-note.js';
import { Icon } from '../../components/icons.js';
import { Badge, Panel } from '../../components/page.js';

/** A question that needs two rounds of the bundled documents. */
const demoQuestion = 'In which town was the founder of the Northlight Clock Company born?';

interface FirstRunProps {
  readonly busy: boolean;
  readonly onAsk: (model: string, question: string) => void;
}

/** The first page while no model is configured: what was found, what to start, a field for a provider, and a question to try. */
export function FirstRun({ busy, onAsk }: FirstRunProps) {
  const { role } = useSession();
  return (
    <>
      <header className="stack">
        <h1>Welcome to Conclave</h1>
        <p>
          No model is configured yet. Until one is, the built-in demo model answers: it runs offline, always answers the same, and knows
          thirteen documents that come with it.
        </p>
        <div>
          <button type="button" className="button primary" disabled={busy} onClick={() => onAsk('conclave', demoQuestion)}>
            <Icon name="resume" /> Ask the demo: {demoQuestion}
          </button>
        </div>
      </header>
      <div className="first-run">
        <Panel title="What was found">{role === 'admin' ? <Found /> : <FoundForOthers />}</Panel>
        <Panel title="What to start">
          <p>Start one of these and Conclave finds it automatically; then start Conclave again, or load this page again in a minute:</p>
          <ul>
            <li>
              Ollama: <code>ollama serve</code>, <code>ollama pull qwen3:8b</code>
            </li>
            <li>
              llama.cpp: <code>llama-server -m model.gguf --port 8081</code>
            </li>
            <li>LM Studio, or any server with OpenAI&apos;s API, such as vLLM</li>
          </ul>
          <p className="quiet">
            Or name a server: <code>OPENAI_BASE_URL=http://127.0.0.1:11434/v1 npm start</code>
          </p>
        </Panel>
        <Panel title="Try a provider">
          {role === 'admin' ? (
            <TryProvider />
          ) : (
            <p className="quiet">An admin can try a provider here. Sign in with the key in admin.key, under View.</p>
          )}
        </Panel>
      </div>
    </>
  );
}

function Found() {
  const { data, error } = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => api.get<ProviderList>('/v1/admin/providers', signal),
  });
  if (error) return <ErrorNote error={error} />;
  const others = (data?.data ?? []).filter(({ from }) => from !== 'built-in');
  if (data && others.length === 0) return <p>No model server answers on this machine, and none is named in conclave.yaml.</p>;
  return (
    <ul className="found">
      {others.map(({ name, base_url: address, reachable, note }) => (
        <li key={name}>
          <p className="row">
            <strong>{name}</strong> <Badge tone={reachable ? 'good' : 'warn'}>{reachable ? 'answers' : 'does not answer'}</Badge>
          </p>
          <p className="quiet">
            {address && <code>{address}</code>} {note}
          </p>
        </li>
      ))}
    </ul>
  );
}

function FoundForOthers() {
  return (
    <p>
      Only the demo model. Only admins see which servers were looked for: sign in with the key in <code>admin.key</code>, or with the link
      that <code>npm start</code> prints.
    </p>
  );
}

function TryProvider() {
  const [state, setState] = useState<{ readonly test: ProviderTest } | { readonly error: unknown } | 'trying' | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const address = String(new FormData(event.currentTarget).get('address') ?? '').trim();
    setState('trying');
    await api.post<ProviderTest>('/v1/admin/providers/test', { base_url: address }).then(
      (test) => setState({ test }),
      (error: unknown) => setState({ error }),
    );
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <label className="field">
        <span>Address of an OpenAI-compatible server</span>
        <input name="address" type="url" required placeholder="http://127.0.0.1:11434/v1" />
      </label>
      <div>
        <button type="submit" className="button" disabled={state === 'trying'}>
          {state === 'trying' ? 'Looking' : 'Look at it'}
        </button>
      </div>
      {typeof state === 'object' && state !== null && 'error' in state && <ErrorNote error={state.error} />}
      {typeof state === 'object' && state !== null && 'test' in state && (
        <div className="stack" role="status">
          <p>
            <Badge tone={state.test.ok ? 'good' : 'bad'}>{state.test.ok ? 'works' : 'does not work'}</Badge> {state.test.sentence}
          </p>
          {state.test.yaml && (
            <>
              <p>Put this into conclave.yaml and start again:</p>
              <pre tabIndex={0} role="region" aria-label="Lines for conclave.yaml">
                <code>{state.test.yaml}</code>
              </pre>
            </>
          )}
        </div>
      )}
    </form>
  );
}
