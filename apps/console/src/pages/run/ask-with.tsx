import type { RunAccepted, RunView } from '@conclave/contracts';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { postOnce } from '../../api/post-once.js';
import { ErrorNote } from '../../components/error-note.js';
import { useTemplates } from '../chat/asking.js';

/** Asks the question of a run again under another template, and opens both runs side by side while the new one is in progress. */
export function AskWith({ record }: { readonly record: RunView }) {
  const navigate = useNavigate();
  const templates = useTemplates();
  const names = [...templates.of('chat'), ...templates.of('reasoning')].map(({ id }) => id);
  const other = names.find((name) => name !== record.template.id) ?? record.template.id;
  const ask = useMutation({
    mutationFn: (template: string) => postOnce<RunAccepted>(`/v1/runs/${encodeURIComponent(record.id)}/reruns`, { template }),
    onSuccess: ({ id }) => navigate({ to: '/console/compare', search: { left: record.id, right: id } as never }),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    ask.mutate(String(new FormData(event.currentTarget).get('template')));
  };
  if (names.length === 0) return null;
  return (
    <form className="row ask-with" onSubmit={submit}>
      <label className="row">
        <span>Ask again with</span>
        <select name="template" defaultValue={other} key={other}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <button type="submit" className="button" disabled={ask.isPending}>
        {ask.isPending ? 'Starts' : 'Ask and compare'}
      </button>
      {ask.error && <ErrorNote error={ask.error} />}
    </form>
  );
}
