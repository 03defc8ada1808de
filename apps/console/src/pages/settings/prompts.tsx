import type { PromptList, PromptView } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { ErrorNote } from '../../components/error-note.js';
import { Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Panel } from '../../components/page.js';
import { LineDiff } from './line-diff.js';

const addressOf = (name: string): string => `/v1/admin/prompts/${encodeURIComponent(name)}`;
const changed = (): Promise<unknown> =>
  Promise.all([queries.invalidateQueries({ queryKey: ['prompts'] }), queries.invalidateQueries({ queryKey: ['prompt'] })]);

/** Prompts: the shipped text, the operator's text, and the rollback. */
export function Prompts() {
  const [chosen, setChosen] = useState('');
  const { data, error, refetch } = useQuery({
    queryKey: ['prompts'],
    queryFn: ({ signal }) => api.get<PromptList>('/v1/admin/prompts', signal),
  });
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Reading prompts" />;
  const name = chosen || data.data[0]!.name;
  return (
    <Panel title="Prompts">
      <label className="field">
        <span>Prompt</span>
        <select value={name} onChange={({ target }) => setChosen(target.value)}>
          {data.data.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
              {one.overridden ? ' (changed)' : ''}
            </option>
          ))}
        </select>
      </label>
      <Prompt key={name} name={name} />
    </Panel>
  );
}

function Prompt({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['prompt', name],
    queryFn: ({ signal }) => api.get<PromptView>(addressOf(name), signal),
  });
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Reading the prompt" />;
  return <Editor key={data.version} view={data} />;
}

function Editor({ view }: { readonly view: PromptView }) {
  const now = view.text ?? view.shipped;
  const [text, setText] = useState(now);
  const save = useMutation({
    mutationFn: () => api.put<PromptView>(addressOf(view.name), { text, version: view.version }),
    onSuccess: changed,
  });
  const back = useMutation({
    mutationFn: (version: number) => api.post<PromptView>(`${addressOf(view.name)}/rollback`, { version }),
    onSuccess: changed,
  });
  return (
    <div className="stack">
      <p className="quiet">
        {view.text === null ? 'The shipped text.' : 'Changed by the operator.'} Placeholders:{' '}
        {view.placeholders.map((one) => `{${one}}${view.needed.includes(one) ? ' (needed)' : ''}`).join(', ') || 'none'}.
      </p>
      <label className="field">
        <span>Text of {view.name}</span>
        <textarea className="settings-yaml" rows={12} value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <div className="row">
        <button type="button" className="button primary" disabled={save.isPending || text === now} onClick={() => save.mutate()}>
          Save
        </button>
        {view.text !== null && (
          <button type="button" className="button" disabled={back.isPending} onClick={() => back.mutate(0)}>
            Back to the shipped text
          </button>
        )}
      </div>
      {(save.error ?? back.error) && <ErrorNote error={save.error ?? back.error} />}
      {text !== now && <LineDiff before={now} after={text} label="What would change" />}
      {view.versions.length > 0 && (
        <ul className="stack settings-list">
          {view.versions.map(({ version, at, shipped }) => (
            <li key={version} className="row">
              <span>Version {version}</span> {version === view.version && <Badge tone="good">now</Badge>}{' '}
              {shipped && <Badge>shipped</Badge>}
              <span className="quiet">
                <Moment at={at} />
              </span>
              {version !== view.version && (
                <button
                  type="button"
                  className="button small"
                  aria-label={`Roll back to version ${version}`}
                  onClick={() => back.mutate(version)}
                >
                  Roll back
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
