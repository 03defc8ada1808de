import { type FormEvent, useState } from 'react';
import { signIn } from '../api/session.js';
import { ErrorNote } from '../components/error-note.js';
import { Icon } from '../components/icons.js';

/** Asks for an API key. The browser keeps only a cookie that no script can read. `onDone`: if no key is needed, the way back. */
export function SignIn({ onDone }: { readonly onDone?: () => void }) {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    setBusy(true);
    await signIn(key).then(
      () => onDone?.(),
      (failure: unknown) => setError(failure),
    );
    setBusy(false);
  };
  return (
    <main id="content" className="sign-in">
      <form className="panel" onSubmit={(event) => void submit(event)}>
        <h1>
          <Icon name="mark" /> Conclave
        </h1>
        <label className="field">
          <span>API key</span>
          <input name="key" type="password" autoComplete="current-password" required />
        </label>
        {error !== null && <ErrorNote error={error} />}
        <button type="submit" className="button primary" disabled={busy}>
          Sign in
        </button>
        {onDone && (
          <button type="button" className="button" onClick={onDone}>
            Go on without a key
          </button>
        )}
        <p className="quiet">
          The key of the operator is in <code>admin.key</code> in the data folder. <code>npm start</code> prints a link that opens this page
          signed in.
        </p>
      </form>
    </main>
  );
}
