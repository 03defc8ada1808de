import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ErrorNote } from '../../components/error-note.js';
import { counted, Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Empty, Page } from '../../components/page.js';
import { outcomes } from '../../run/outcome-words.js';
import { useAppearance } from '../../shell/appearance.js';
import { type RunFilter, useRunList } from './run-list.js';
import { RunRow } from './run-row.js';

type Fields = Readonly<Partial<Record<'template' | 'outcome' | 'text' | 'from' | 'until', string>>>;

/** Runs that are shown before the reader asks for more. */
const rowsAtOnce = 25;

/** The value of a date and time field, as a time in the zone that the reader chose. */
const moment = (text: string | undefined, clock: 'local' | 'utc'): number | null => {
  const at = text ? Date.parse(clock === 'utc' ? `${text}Z` : text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
};

/** All runs of the reader, newest first, with filters that are part of the address. */
export default function RunsPage() {
  const search: Fields = useSearch({ strict: false });
  const navigate = useNavigate();
  const { clock } = useAppearance();
  const [wanted, setWanted] = useState(rowsAtOnce);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const filter = useMemo(
    (): RunFilter => ({
      template: search.template ?? '',
      outcome: search.outcome ?? '',
      text: String(search.text ?? ''),
      from: moment(search.from, clock),
      until: moment(search.until, clock),
    }),
    [search.template, search.outcome, search.text, search.from, search.until, clock],
  );
  const list = useRunList(filter, wanted);
  const isFiltered = Object.values(search).some(Boolean);
  const change = (name: keyof Fields, value: string): void => {
    const next = { ...search, [name]: value === '' ? undefined : value };
    void navigate({ to: '/console/runs', search: next as never, replace: true, resetScroll: false });
  };
  const [left, right] = chosen;
  return (
    <Page
      title="Runs"
      lead="Each question that was asked, with its result and its cost."
      actions={
        <button
          type="button"
          className="button"
          disabled={chosen.length !== 2}
          onClick={() => void navigate({ to: '/console/compare', search: { left, right } as never })}
        >
          {chosen.length === 2 ? 'Compare the two' : 'Choose two to compare'}
        </button>
      }
    >
      <Filters search={search} templates={list.templates} zone={clock === 'utc' ? 'UTC' : 'local'} onChange={change} />
      {list.error ? <ErrorNote error={list.error} onRetry={list.goOn} /> : null}
      {!list.isRead ? (
        !list.error && <Loading what="Reading the runs" />
      ) : list.runs.length === 0 && !list.isLooking ? (
        <Empty>
          <p>{isFiltered ? 'No run matches.' : 'No run yet. Each question on the page Chat becomes one.'}</p>
        </Empty>
      ) : (
        <div className="table-box" tabIndex={0} role="region" aria-label="Runs">
          <table className="table runs-table">
            <thead>
              <tr>
                <th scope="col">
                  <span className="visually-hidden">Compare</span>
                </th>
                <th scope="col">Question</th>
                <th scope="col">Outcome</th>
                <th scope="col">Started</th>
                <th scope="col">Template</th>
                {['Rounds', 'Calls', 'Tokens', 'Cost', 'Duration'].map((name) => (
                  <th key={name} scope="col" className="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {list.runs.map((item) => (
                <RunRow
                  key={item.id}
                  item={item}
                  chosen={chosen.includes(item.id)}
                  onChoose={(now) => setChosen((ids) => (now ? [...ids, item.id].slice(-2) : ids.filter((id) => id !== item.id)))}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.isRead && (
        <div className="row" role="status">
          <span className="quiet">
            {list.isLooking ? 'Looks further back: ' : ''}
            {counted(list.looked, 'run')} looked at
            {list.oldest !== null && (
              <>
                , back to <Moment at={list.oldest} />
              </>
            )}
            .
          </span>
          {list.mayGoOn && (
            <button type="button" className="button" onClick={list.goOn}>
              Look further back
            </button>
          )}
          {!list.mayGoOn && list.hasMore && !list.isLooking && (
            <button type="button" className="button" onClick={() => setWanted(wanted + rowsAtOnce)}>
              Show more
            </button>
          )}
        </div>
      )}
    </Page>
  );
}

interface FilterProps {
  readonly search: Fields;
  readonly templates: readonly string[];
  readonly zone: string;
  readonly onChange: (name: keyof Fields, value: string) => void;
}

function Filters({ search, templates, zone, onChange }: FilterProps) {
  return (
    <search className="runs-filters">
      <label className="field runs-text">
        <span>Question contains</span>
        <input type="search" value={String(search.text ?? '')} onChange={({ target }) => onChange('text', target.value)} />
      </label>
      <label className="field">
        <span>Template</span>
        <select value={search.template ?? ''} onChange={({ target }) => onChange('template', target.value)}>
          <option value="">All</option>
          {[...new Set([...templates, ...(search.template ? [search.template] : [])])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Outcome</span>
        <select value={search.outcome ?? ''} onChange={({ target }) => onChange('outcome', target.value)}>
          <option value="">All</option>
          <option value="open">Still running</option>
          {Object.entries(outcomes).map(([value, [word]]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
      </label>
      {(['from', 'until'] as const).map((name) => (
        <label key={name} className="field">
          <span>
            {name === 'from' ? 'From' : 'Until'} ({zone})
          </span>
          <input type="datetime-local" value={search[name] ?? ''} onChange={({ target }) => onChange(name, target.value)} />
        </label>
      ))}
    </search>
  );
}
