import type { CollectionList, CollectionView, DocumentList, DocumentView, PassageList } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, request } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { useSession } from '../../api/session.js';
import { ErrorNote } from '../../components/error-note.js';
import { bytesText, counted } from '../../components/figures.js';
import { Icon } from '../../components/icons.js';
import { Loading } from '../../components/loading.js';
import { Badge, Empty, Panel, type Tone } from '../../components/page.js';

const addressOf = (name: string): string => `/v1/collections/${encodeURIComponent(name)}`;
const again = (...key: string[]): Promise<void> => queries.invalidateQueries({ queryKey: key });

/** Collections of documents: create, fill, try a query. */
export function Collections() {
  const [chosen, setChosen] = useState<string | null>(null);
  const { may_change: mayChange } = useSession();
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
        {mayChange && <NewCollection onMade={setChosen} />}
      </Panel>
      {shown ? (
        <Documents key={shown.name} collection={shown} />
      ) : (
        <Empty>
          <p>{mayChange ? 'Create a collection, and put documents into it.' : 'There is nothing to show.'}</p>
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

async function allDocuments(name: string, signal: AbortSignal): Promise<readonly DocumentView[]> {
  const data: DocumentView[] = [];
  for (let after: string | null = null; ;) {
    const place: string = after === null ? '' : `&after=${encodeURIComponent(after)}`;
    const page: DocumentList = await api.get<DocumentList>(`${addressOf(name)}/documents?limit=200${place}`, signal);
    data.push(...page.data);
    if (page.nextAfter === null) return data;
    after = page.nextAfter;
  }
}

/** Files that were not added, each with the reason. */
interface Uploaded {
  readonly of: number;
  readonly refused: readonly { readonly name: string; readonly why: string }[];
}

function Documents({ collection: { name, description } }: { readonly collection: CollectionView }) {
  const { may_change: mayChange } = useSession();
  const { data, error, refetch } = useQuery({
    queryKey: ['documents', name],
    queryFn: ({ signal }) => allDocuments(name, signal),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) ? lookMs : false),
  });
  const upload = useMutation({
    mutationFn: async (files: readonly File[]): Promise<Uploaded> => {
      const refused: { readonly name: string; readonly why: string }[] = [];
      for (const file of files) {
        const headers = { 'x-document-name': encodeURIComponent(file.name), 'content-type': file.type || 'application/octet-stream' };
        // A file that is refused does not keep back the others.
        await request('POST', `${addressOf(name)}/documents`, { body: file, headers }).catch((error: unknown) => {
          refused.push({ name: file.name, why: error instanceof Error ? error.message : String(error) });
        });
        await again('documents', name);
      }
      return { of: files.length, refused };
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
          mayChange && (
            <button
              type="button"
              className="button danger"
              disabled={removeAll.isPending}
              onClick={() => confirm(`Remove the collection ${name} with all its documents?`) && removeAll.mutate()}
            >
              Remove
            </button>
          )
        }
      >
        <p className="quiet">{description}</p>
        {mayChange && (
          <label className="field">
            <span>Add documents (PDF, DOCX, XLSX, PPTX, HTML, Markdown, CSV, text)</span>
            <input
              type="file"
              multiple
              disabled={upload.isPending}
              onChange={({ target }) => {
                upload.mutate([...(target.files ?? [])]);
                // Otherwise the browser would not report the same file when it is chosen again.
                target.value = '';
              }}
            />
          </label>
        )}
        {upload.isPending && <Loading what={`Uploading ${counted(upload.variables.length, 'document')}`} />}
        {upload.data && upload.data.refused.length > 0 && <NotAdded {...upload.data} />}
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {[upload.error, remove.error, removeAll.error].map((fault, n) => fault && <ErrorNote key={n} error={fault} />)}
        {data?.length === 0 && <p className="quiet">It contains no documents yet.</p>}
        {data && data.length > 0 && (
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
                {data.map((document) => (
                  <tr key={document.id}>
                    <td>{document.name}</td>
                    <td>
                      <Progress document={document} />
                    </td>
                    <td className="number">{bytesText(document.bytes)}</td>
                    <td>
                      {mayChange && (
                        <button
                          type="button"
                          className="button small"
                          aria-label={`Remove ${document.name}`}
                          onClick={() => remove.mutate(document.id)}
                        >
                          Remove
                        </button>
                      )}
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

function NotAdded({ of, refused }: Uploaded) {
  return (
    <div className="note bad" role="alert">
      <Icon name="warning" />
      <div className="stack">
        <p>
          Not added: {refused.length} of {counted(of, 'document')}.
        </p>
        <ul>
          {refused.map(({ name, why }, n) => (
            <li key={n}>
              <strong>{name}</strong>: {why}
            </li>
          ))}
        </ul>
      </div>
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
