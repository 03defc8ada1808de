import type { TemplateCheck, TemplateList, TemplateView } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { ErrorNote } from '../../components/error-note.js';
import { Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Panel } from '../../components/page.js';
import { LineDiff } from './line-diff.js';
import { draftOf, draftText, type TemplateDraft } from './template-draft.js';
import { TemplateForm } from './template-form.js';
import { yamlText } from './yaml-text.js';

const addressOf = (id: string): string => `/v1/admin/templates/${encodeURIComponent(id)}`;

/** Templates: options, limits and models as a form or as YAML, with a check, a diff, versions and rollback. */
export function Templates() {
  const [chosen, setChosen] = useState('');
  const { data, error, refetch } = useQuery({
    queryKey: ['templates'],
    queryFn: ({ signal }) => api.get<TemplateList>('/v1/admin/templates', signal),
  });
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Reading templates" />;
  const id = chosen || data.data[0]?.id;
  return (
    <>
      <Panel title="Templates">
        <label className="field">
          <span>Template</span>
          <select value={id} onChange={({ target }) => setChosen(target.value)}>
            {data.data.map((one) => (
              <option key={one.id} value={one.id}>
                {one.id} ({one.strategy}
                {one.overridden ? ', changed' : ''}
                {one.hash === null ? ', not offered' : ''})
              </option>
            ))}
          </select>
        </label>
        <p className="quiet">{data.data.find((one) => one.id === id)?.description}</p>
      </Panel>
      {id && <Template key={id} id={id} />}
    </>
  );
}

function Template({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['template', id],
    queryFn: ({ signal }) => api.get<TemplateView>(addressOf(id), signal),
  });
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Reading the template" />;
  return (
    <>
      <Editor key={data.version} view={data} />
      <Versions view={data} />
      <Panel title="The whole template">
        <p className="quiet">
          {data.resolved
            ? `As runs get it, with every default filled in: version ${String(data.resolved['version'])}.`
            : 'It is not offered now.'}
        </p>
        {data.resolved && (
          <pre className="settings-diff" tabIndex={0} role="region" aria-label="The whole template">
            {yamlText(data.resolved)}
          </pre>
        )}
      </Panel>
    </>
  );
}

const changed = (): Promise<unknown> =>
  Promise.all([queries.invalidateQueries({ queryKey: ['templates'] }), queries.invalidateQueries({ queryKey: ['template'] })]);

function Editor({ view }: { readonly view: TemplateView }) {
  const before = draftText(draftOf(view));
  const [text, setText] = useState(before);
  /** The parsed text; null after it was edited as YAML. */
  const [draft, setDraft] = useState<TemplateDraft | null>(draftOf(view));
  const [asForm, setAsForm] = useState(true);
  const check = useMutation({ mutationFn: (yaml: string) => api.post<TemplateCheck>(`${addressOf(view.id)}/check`, { yaml }) });
  const save = useMutation({
    mutationFn: async () => {
      const { valid, changed: options, settings } = await check.mutateAsync(text);
      if (!valid) return null;
      return api.put<TemplateView>(addressOf(view.id), { options, settings, version: view.version });
    },
    onSuccess: (saved) => (saved ? changed() : undefined),
  });
  const fromForm = (next: TemplateDraft): void => {
    setDraft(next);
    setText(draftText(next));
    check.reset();
  };
  const showForm = (): void => {
    if (draft) return setAsForm(true);
    check.mutate(text, {
      onSuccess: ({ changed: options, settings }) => {
        // The faults explain why a text cannot be shown as a form.
        if (!options || !settings) return;
        setDraft({ options, settings });
        setAsForm(true);
      },
    });
  };
  return (
    <Panel
      title={`Changes to ${view.id}`}
      actions={
        <fieldset className="choice bare">
          <legend>How to edit</legend>
          {[true, false].map((form) => (
            <label key={String(form)}>
              <input type="radio" name="settings-edit" checked={asForm === form} onChange={() => (form ? showForm() : setAsForm(false))} />
              <span>{form ? 'Form' : 'YAML'}</span>
            </label>
          ))}
        </fieldset>
      }
    >
      <p className="quiet">
        Only what differs from conclave.yaml; an empty field is as in the file. New runs use a change two seconds after it was saved.
      </p>
      {asForm && draft ? (
        <TemplateForm view={view} draft={draft} onChange={fromForm} />
      ) : (
        <label className="field">
          <span>Changes as YAML</span>
          <textarea
            className="settings-yaml"
            rows={12}
            spellCheck={false}
            value={text}
            placeholder={'limits:\n  cost: 0.5\njudge:\n  models: [model@provider]'}
            onChange={({ target }) => (setText(target.value), setDraft(null), check.reset())}
          />
        </label>
      )}
      <div className="row">
        <button type="button" className="button" onClick={() => check.mutate(text)} disabled={check.isPending}>
          Check
        </button>
        <button type="button" className="button primary" onClick={() => save.mutate()} disabled={save.isPending || text === before}>
          Save
        </button>
      </div>
      {(check.error ?? save.error) && <ErrorNote error={check.error ?? save.error} />}
      {check.data && <Checked check={check.data} />}
      {text !== before && <LineDiff before={before} after={text} label="What would change" />}
    </Panel>
  );
}

function Checked({ check: { valid, faults } }: { readonly check: TemplateCheck }) {
  if (valid)
    return (
      <p role="status">
        <Badge tone="good">valid</Badge> Nothing was changed, started or connected by the check.
      </p>
    );
  return (
    <div className="note bad" role="alert">
      <ul className="stack settings-list">
        {faults.map(({ path, line, message }, n) => (
          <li key={n}>
            {line !== null && <Badge tone="bad">line {line}</Badge>} {path && <code>{path}</code>} {message}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Versions({ view }: { readonly view: TemplateView }) {
  const [shown, setShown] = useState<number | null>(null);
  const back = useMutation({
    mutationFn: (version: number) => api.post<TemplateView>(`${addressOf(view.id)}/rollback`, { version }),
    onSuccess: changed,
  });
  const now = draftText(draftOf(view));
  return (
    <Panel
      title="Versions"
      actions={
        now !== '' && (
          <button type="button" className="button" onClick={() => back.mutate(0)} disabled={back.isPending}>
            Back to the file
          </button>
        )
      }
    >
      {view.versions.length === 0 && <p className="quiet">It was never changed while the system runs.</p>}
      {back.error && <ErrorNote error={back.error} />}
      <ul className="stack settings-list">
        {view.versions.map(({ version, at, actor, options, settings }) => (
          <li key={version} className="settings-version">
            <div className="row">
              <strong>Version {version}</strong> {version === view.version && <Badge tone="good">now</Badge>}
              <span className="quiet">
                <Moment at={at} /> {actor !== null && `by ${actor}`}
              </span>
              <button
                type="button"
                className="button small"
                aria-expanded={shown === version}
                aria-label={`Diff of version ${version}`}
                onClick={() => setShown(shown === version ? null : version)}
              >
                Diff
              </button>
              {version !== view.version && (
                <button
                  type="button"
                  className="button small"
                  aria-label={`Roll back to version ${version}`}
                  disabled={back.isPending}
                  onClick={() => back.mutate(version)}
                >
                  Roll back
                </button>
              )}
            </div>
            {shown === version && (
              <LineDiff before={now} after={draftText({ options, settings })} label={`From now to version ${version}`} />
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
