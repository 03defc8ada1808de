import type { CollectionList, CollectionView, DocumentList, DocumentView, PassageList } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, request } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { ErrorNote } from '../../components/error-note.js';
import { bytesText, counted } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Empty, Panel, type Tone } from '../../components/page.js';

const addressOf = (name: string): string => `/v1/collections/${encodeURIComponent(name)}`;
const again = (...key: string[]): Promise<void> => queries.invalidateQueries({ queryKey: key });

/** Collections of documents: create, fill, try a query. */
export function Collections() {
  const [chosen, setChosen] = useState<string | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: ['collections'],
    queryFn: ({ signal }) => api.get<CollectionList>('/v1/collections', signal),
  });
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Reading collections" />;
  const shown = data.data.find(({ name }) => name === chosen) ?? data.data[0];
  return (
    <div className="knowledge-graph">
      <Panel title="Collections">
        {data.data.length === 0 && <p className="quiet">There are no collections yet. Runs search the collections of their tenant.</p>}
        <ul className="knowledge-list">
          {data.data.map(({ name }) => (
            <li key={name}>
              <button
                type="button"
                className="button plain"
                aria-current={name === shown?.name ? 'true' : undefined}
                onClick={() => setChosen(name)}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
        <NewCollection onMade={setChosen} />
      </Panel>
      {shown ? (
        <Documents key={shown.name} collection={shown} />
      ) : (
        <Empty>
          <p>Create a collection, and put documents into it.</p>
        </Empty>
      )}
    </div>
  );
}

function NewCollection({ onMade }: { readonly onMade: (name: string) => void }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const make = useMutation({
    mutationFn: () => api.post<CollectionView>('/v1/collections', { name, description }),
    onSuccess: async (made) => {
      setName('');
      setDescription('');
      await again('collections');
      onMade(made.name);
    },
  });
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form className="stack" onSubmit={onSubmit}>
      <label className="field">
        <span>New collection</span>
        <input value={name} onChange={({ target }) => setName(target.value)} placeholder="contracts" required />
      </label>
      <label className="field">
        <span>What its documents are about</span>
        <input value={description} onChange={({ target }) => setDescription(target.value)} required />
      </label>
      {make.error && <ErrorNote error={make.error} />}
      <div className="row">
        <button type="submit" className="button" disabled={make.isPending}>
          Create
        </button>
      </div>
    </form>
  );
}

const tones: Readonly<Record<DocumentView['status'], Tone>> = {
  queued: 'plain',
  reading: 'busy',
  embedding: 'busy',
  ready: 'good',
  failed: 'bad',
};
const isOpen = ({ status }: DocumentView): boolean => status !== 'ready' && status !== 'failed';
/** Milliseconds between two reads of documents in progress. */
const lookMs = 1_000;

function Documents({ collection: { name, description } }: { readonly collection: CollectionView }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['documents', name],
    queryFn: ({ signal }) => api.get<DocumentList>(`${addressOf(name)}/documents?limit=100`, signal),
    refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? lookMs : false),
  });
  const upload = useMutation({
    mutationFn: async (files: readonly File[]) => {
      for (const file of files) {
        const headers = { 'x-document-name': encodeURIComponent(file.name), 'content-type': file.type || 'application/octet-stream' };
        await request('POST', `${addressOf(name)}/documents`, { body: file, headers });
        await again('documents', name);
      }
    },
    onSettled: () => again('documents', name),
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.delete(`${addressOf(name)}/documents/${encodeURIComponent(id)}`),
    onSuccess: () => again('documents', name),
  });
  const removeAll = useMutation({ mutationFn: () => api.delete(addressOf(name)), onSuccess: () => again('collections') });
  return (
    <div className="stack">
      <Panel
        title={name}
        actions={
          <button
            type="button"
            className="button danger"
            disabled={removeAll.isPending}
            onClick={() => confirm(`Remove the collection ${name} with all its documents?`) && removeAll.mutate()}
          >
            Remove
          </button>
        }
      >
        <p className="quiet">{description}</p>
        <label className="field">
          <span>Add documents (PDF, DOCX, XLSX, PPTX, HTML, Markdown, CSV, text)</span>
          <input type="file" multiple disabled={upload.isPending} onChange={({ target }) => upload.mutate([...(target.files ?? [])])} />
        </label>
        {upload.isPending && <Loading what="Uploading" />}
        {[error, upload.error, remove.error, removeAll.error].map(
          (fault, n) => fault && <ErrorNote key={n} error={fault} onRetry={() => void refetch()} />,
        )}
        {data?.data.length === 0 && <p className="quiet">It contains no documents yet.</p>}
        {data && data.data.length > 0 && (
          <div className="table-box" tabIndex={0} role="region" aria-label={`Documents of ${name}`}>
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Document</th>
                  <th scope="col">Progress</th>
                  <th scope="col" className="number">
                    Size
                  </th>
                  <th scope="col">
                    <span className="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.data.map((document) => (
                  <tr key={document.id}>
                    <td>{document.name}</td>
                    <td>
                      <Progress document={document} />
                    </td>
                    <td className="number">{bytesText(document.bytes)}</td>
                    <td>
                      <button
                        type="button"
                        className="button small"
                        aria-label={`Remove ${document.name}`}
                        onClick={() => remove.mutate(document.id)}
                      >
                        Remove
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      <TryQuery name={name} />
    </div>
  );
}

function Progress({ document }: { readonly document: DocumentView }) {
  const { status, chunks, problem, notices } = document;
  const words = chunks.total === null ? status : `${chunks.done} of ${chunks.total} parts`;
  return (
    <div className="stack">
      <span>
        <Badge tone={tones[status]}>{status}</Badge> {status === 'ready' && <span className="quiet">{counted(chunks.done, 'part')}</span>}
      </span>
      {isOpen(document) && (
        <progress
          {...(chunks.total === null ? {} : { value: chunks.done, max: Math.max(1, chunks.total) })}
          aria-label={`${document.name}: ${words}`}
        />
      )}
      {[...(problem === null ? [] : [problem]), ...notices].map((line) => (
        <span key={line} className="quiet">
          {line}
        </span>
      ))}
    </div>
  );
}

function TryQuery({ name }: { readonly name: string }) {
  const [query, setQuery] = useState('');
  const found = useMutation({ mutationFn: () => api.post<PassageList>(`${addressOf(name)}/query`, { query, limit: 5 }) });
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    found.mutate();
  };
  return (
    <Panel title="Try a query">
      <form className="row knowledge-ask" onSubmit={onSubmit}>
        <label className="field knowledge-query">
          <span>What a run would search for</span>
          <input value={query} onChange={({ target }) => setQuery(target.value)} required />
        </label>
        <button type="submit" className="button primary" disabled={found.isPending}>
          Find
        </button>
      </form>
      {found.error && <ErrorNote error={found.error} />}
      {found.data?.notes.map((note) => (
        <p key={note} className="quiet">
          {note}
        </p>
      ))}
      {found.data?.data.length === 0 && <p role="status">No passage was found.</p>}
      <ol className="stack">
        {found.data?.data.map((passage, n) => (
          <li key={n}>
            <p>
              <strong>{passage.title}</strong> {passage.section && <span className="quiet">{passage.section}</span>}{' '}
              <Badge>{passage.similarity === null ? 'by its words' : `similarity ${passage.similarity.toFixed(2)}`}</Badge>
            </p>
            <blockquote className="knowledge-quote">{passage.text}</blockquote>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
