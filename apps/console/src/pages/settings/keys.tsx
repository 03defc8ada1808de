import type { KeyCreated, KeyList, KeyView } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { useSession } from '../../api/session.js';
import { CopyButton } from '../../components/copy-button.js';
import { ErrorNote } from '../../components/error-note.js';
import { Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Panel, type Tone } from '../../components/page.js';

const changed = (): Promise<void> => queries.invalidateQueries({ queryKey: ['keys'] });
const tones: Readonly<Record<KeyView['state'], Tone>> = { active: 'good', expired: 'warn', revoked: 'bad' };
/** Seconds for which the former value of a rotated key still works. */
const graceS = 3_600;
const limits = ['requests_per_minute', 'concurrent_runs', 'tokens_per_day', 'cost_per_month'] as const;

/** Label of a field such as `cost_per_month`: `Cost per month`. */
const named = (limit: string): string => `${limit[0]!.toUpperCase()}${limit.slice(1).replaceAll('_', ' ')}`;

async function allKeys(signal: AbortSignal): Promise<KeyList> {
  const data: KeyView[] = [];
  for (let before: string | null = null; ;) {
    const page: KeyList = await api.get<KeyList>(
      `/v1/admin/keys?limit=200${before === null ? '' : `&before=${encodeURIComponent(before)}`}`,
      signal,
    );
    data.push(...page.data);
    if (page.nextBefore === null) return { ...page, data };
    before = page.nextBefore;
  }
}

/** Issued API keys with their budgets. The value of a key is shown once. */
export function Keys() {
  const [made, setMade] = useState<NewValue | null>(null);
  const { data, error, refetch } = useQuery({ queryKey: ['keys'], queryFn: ({ signal }) => allKeys(signal) });
  return (
    <>
      <Panel title="Issue a key">
        <NewKey onMade={(key) => setMade({ key, isRotated: false })} />
        {made && <Made key={made.key.key} made={made} onDone={() => setMade(null)} />}
      </Panel>
      <Panel title="Keys">
        <p className="quiet">Keys of conclave.yaml are not listed here.</p>
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="Reading keys" />}
        {data?.data.length === 0 && <p>No key was issued yet.</p>}
        <ul className="stack settings-list">
          {data?.data.map((one) => (
            <Key key={one.id} view={one} onRotated={(key) => setMade({ key, isRotated: true })} />
          ))}
        </ul>
      </Panel>
    </>
  );
}

interface NewValue {
  readonly key: KeyCreated;
  readonly isRotated: boolean;
}

/** The new value of a key. It takes the focus, because the button that made it may be far below. */
function Made({ made, onDone }: { readonly made: NewValue; readonly onDone: () => void }) {
  const { name, key } = made.key;
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => note.current?.focus(), []);
  return (
    <div className="note" role="status" tabIndex={-1} ref={note}>
      <div className="stack">
        <p>The value of {name}, shown only once. Copy it now:</p>
        <code className="settings-models">{key}</code>
        {made.isRotated && (
          <p className="quiet">The former value still works for an hour. To end it at once, revoke the key and issue another.</p>
        )}
      </div>
      <CopyButton what={`the value of ${name}`} text={() => key} />
      <button type="button" className="button" onClick={onDone}>
        Done
      </button>
    </div>
  );
}

function NewKey({ onMade }: { readonly onMade: (key: KeyCreated) => void }) {
  const session = useSession();
  const [name, setName] = useState('');
  const [tenant, setTenant] = useState(session.tenant);
  const [role, setRole] = useState('user');
  const [budget, setBudget] = useState<Readonly<Record<string, string>>>({});
  const make = useMutation({
    mutationFn: () => {
      const set = Object.fromEntries(limits.flatMap((limit) => (budget[limit] ? [[limit, Number(budget[limit])]] : [])));
      return api.post<KeyCreated>('/v1/admin/keys', { name, tenant, role, ...(Object.keys(set).length > 0 ? { limits: set } : {}) });
    },
    onSuccess: (key) => {
      onMade(key);
      setName('');
      return changed();
    },
  });
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form className="settings-form" onSubmit={onSubmit}>
      <label className="field">
        <span>Name</span>
        <input value={name} onChange={({ target }) => setName(target.value)} required />
      </label>
      <label className="field">
        <span>Tenant</span>
        <input value={tenant} onChange={({ target }) => setTenant(target.value)} disabled={session.tenant !== 'default'} required />
      </label>
      <label className="field">
        <span>Role</span>
        <select value={role} onChange={({ target }) => setRole(target.value)}>
          {['user', 'auditor', 'admin'].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {limits.map((limit) => (
        <label key={limit} className="field">
          <span>{named(limit)}</span>
          <input
            type="number"
            {...(limit === 'cost_per_month' ? { min: 0, step: 'any' } : { min: 1, step: 1 })}
            placeholder="no limit"
            value={budget[limit] ?? ''}
            onChange={({ target }) => setBudget({ ...budget, [limit]: target.value })}
          />
        </label>
      ))}
      <div className="row">
        <button type="submit" className="button primary" disabled={make.isPending}>
          Issue
        </button>
      </div>
      {make.error && <ErrorNote error={make.error} />}
    </form>
  );
}

function Key({ view, onRotated }: { readonly view: KeyView; readonly onRotated: (key: KeyCreated) => void }) {
  const { id, name, hint, tenant, role, state, expires_at: expires, limits: set } = view;
  const revoke = useMutation({ mutationFn: () => api.delete(`/v1/admin/keys/${id}`), onSuccess: changed });
  const rotate = useMutation({
    mutationFn: () => api.post<KeyCreated>(`/v1/admin/keys/${id}/rotate`, { grace_s: graceS }),
    onSuccess: (key) => {
      onRotated(key);
      return changed();
    },
  });
  const bounds = Object.entries(set ?? {}).filter(([, value]) => value !== null);
  return (
    <li className="settings-version">
      <div className="row">
        <strong>{name}</strong> <code>{hint}</code> <Badge tone={tones[state]}>{state}</Badge>
        <span className="quiet">
          {tenant}, {role}
          {expires !== null && (
            <>
              , until <Moment at={expires} />
            </>
          )}
        </span>
        {state === 'active' && (
          <>
            <button
              type="button"
              className="button small"
              aria-label={`Rotate ${name}`}
              disabled={rotate.isPending}
              onClick={() => rotate.mutate()}
            >
              Rotate
            </button>
            <button
              type="button"
              className="button small danger"
              aria-label={`Revoke ${name}`}
              disabled={revoke.isPending}
              onClick={() => confirm(`Revoke ${name} for good? Its open requests are cut.`) && revoke.mutate()}
            >
              Revoke
            </button>
          </>
        )}
      </div>
      {bounds.length > 0 && (
        <p className="quiet">{bounds.map(([limit, value]) => `${limit.replaceAll('_', ' ')} ${String(value)}`).join(', ')}</p>
      )}
      {(revoke.error ?? rotate.error) && <ErrorNote error={revoke.error ?? rotate.error} />}
    </li>
  );
}
