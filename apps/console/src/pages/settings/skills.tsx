import type { SkillItem, SkillList, SkillView } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { ErrorNote } from '../../components/error-note.js';
import { Loading } from '../../components/loading.js';
import { Badge, Panel } from '../../components/page.js';

const addressOf = (name: string): string => `/v1/admin/skills/${encodeURIComponent(name)}`;
const changed = (): Promise<void> => queries.invalidateQueries({ queryKey: ['skills'] });
const sample = '---\nname: tldr\ndescription: Short answer\n---\nAnswer in one sentence: $ARGUMENTS\n';

/** Skills: an added skill works once its exact text was approved. */
export function Skills() {
  const { data, error, refetch } = useQuery({
    queryKey: ['skills'],
    queryFn: ({ signal }) => api.get<SkillList>('/v1/admin/skills', signal),
  });
  return (
    <Panel title="Skills">
      <p className="quiet">
        A user calls a skill with /name at the beginning of a question. One that was added here runs only after somebody approved exactly
        its text.
      </p>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Reading skills" />}
      {data?.data.length === 0 && <p>There are no skills yet.</p>}
      {data?.problems.map((problem) => (
        <p key={problem} className="note warn">
          {problem}
        </p>
      ))}
      <ul className="stack settings-list">
        {data?.data.map((skill) => (
          <Skill key={skill.name} skill={skill} />
        ))}
      </ul>
      <Add />
    </Panel>
  );
}

function Skill({ skill: { name, description, source, version, approved } }: { readonly skill: SkillItem }) {
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: ['skills', name, version],
    queryFn: ({ signal }) => api.get<SkillView>(addressOf(name), signal),
    enabled: isOpen,
  });
  const approve = useMutation({
    mutationFn: () => api.post(`${addressOf(name)}/approval`, { version, approved: !approved }),
    onSuccess: changed,
  });
  const remove = useMutation({ mutationFn: () => api.delete(addressOf(name)), onSuccess: changed });
  return (
    <li className="settings-version">
      <div className="row">
        <strong>/{name}</strong> <Badge tone={approved ? 'good' : 'warn'}>{approved ? 'approved' : 'not approved'}</Badge>
        <span className="quiet">{description}</span>
        <button
          type="button"
          className="button small"
          aria-expanded={isOpen}
          aria-label={`Text of ${name}`}
          onClick={() => setOpen(!isOpen)}
        >
          Text
        </button>
        {source === 'setting' && (
          <>
            <button
              type="button"
              className="button small"
              // Approving requires that the text was shown.
              disabled={approve.isPending || (!approved && !data)}
              onClick={() => approve.mutate()}
            >
              {approved ? 'Withdraw' : 'Approve'}
            </button>
            <button type="button" className="button small danger" aria-label={`Remove ${name}`} onClick={() => remove.mutate()}>
              Remove
            </button>
          </>
        )}
      </div>
      {(approve.error ?? remove.error) && <ErrorNote error={approve.error ?? remove.error} />}
      {isOpen && data && (
        <pre className="settings-diff" tabIndex={0} role="region" aria-label={`Text of ${name}`}>
          {data.text}
        </pre>
      )}
    </li>
  );
}

function Add() {
  const [text, setText] = useState('');
  const name = /^name:\s*(\S+)/m.exec(text)?.[1] ?? null;
  const add = useMutation({
    mutationFn: () => api.put(addressOf(name!), { text }),
    onSuccess: () => {
      setText('');
      return changed();
    },
  });
  return (
    <div className="stack">
      <label className="field">
        <span>Add or change a skill (Markdown with front matter)</span>
        <textarea className="settings-yaml" rows={6} value={text} placeholder={sample} onChange={({ target }) => setText(target.value)} />
      </label>
      {add.error && <ErrorNote error={add.error} />}
      <div className="row">
        <button type="button" className="button" disabled={name === null || add.isPending} onClick={() => add.mutate()}>
          Add
        </button>
      </div>
    </div>
  );
}
