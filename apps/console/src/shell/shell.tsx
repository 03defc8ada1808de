import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { gateway } from '../api/gateway-state.js';
import { type Session, signOut, useSessionQuery } from '../api/session.js';
import { ErrorNote } from '../components/error-note.js';
import { Icon } from '../components/icons.js';
import { Loading } from '../components/loading.js';
import { maySee, pageRoutes } from '../routes.js';
import { changeAppearance, useAppearance } from './appearance.js';
import { SignIn } from './sign-in.js';

/** Frame of every page: navigation, banner, and the sign-in page for readers without a session. */
export function Shell() {
  const { data: session, error, refetch } = useSessionQuery();
  const [signingIn, setSigningIn] = useState(false);
  if (session === null || signingIn) return <SignIn {...(session ? { onDone: () => setSigningIn(false) } : {})} />;
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      {session && <Navigation session={session} onSignIn={() => setSigningIn(true)} />}
      <div className="shell-main">
        <GatewayBanner />
        <main id="content" tabIndex={-1}>
          {session ? (
            <Suspense fallback={<Loading />}>
              <Page session={session} onSignIn={() => setSigningIn(true)} />
            </Suspense>
          ) : error ? (
            <ErrorNote error={error} onRetry={() => void refetch()} />
          ) : (
            <Loading />
          )}
        </main>
      </div>
      <PageTitle />
    </div>
  );
}

/** The page of the address, or who may see it: each of its requests would be refused for the same reason. */
function Page({ session, onSignIn }: { readonly session: Session; readonly onSignIn: () => void }) {
  const page = useRouterState({ select: ({ matches }) => pageRoutes.find(({ path }) => path === matches.at(-1)?.fullPath) });
  if (!page || maySee(page, session)) return <Outlet />;
  return (
    <section className="page">
      <h1>{page.title}</h1>
      <p>
        This page is {page.changes ? 'not for auditors, who may read but not ask' : 'only for admins'}, and{' '}
        {session.key_name ? `${session.key_name} is` : 'you are'} signed in as {session.role}. The key of the operator is in{' '}
        <code>admin.key</code> in the data folder.
      </p>
      <div>
        <button type="button" className="button" onClick={onSignIn}>
          Sign in with another key
        </button>
      </div>
    </section>
  );
}

/** Whether a page of the navigation is open, itself or a page below it; the chat is at `/`, and a run of it is below /console/chat. */
const isOpen = (path: string, at: string): boolean =>
  path === '/' ? at === '/' || at.startsWith('/console/chat/') : at === path || at.startsWith(`${path}/`);

function Navigation({ session, onSignIn }: { readonly session: Session; readonly onSignIn: () => void }) {
  const { theme, clock } = useAppearance();
  const at = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <header className="shell-side">
      <p className="shell-name">
        <Icon name="mark" /> Conclave
      </p>
      <nav aria-label="Pages">
        <ul className="shell-pages">
          {pageRoutes
            .filter((page) => page.icon && maySee(page, session))
            .map(({ path, title, icon }) => (
              <li key={path}>
                <Link to={path} aria-current={isOpen(path, at) ? 'page' : undefined}>
                  <Icon name={icon!} /> <span>{title}</span>
                </Link>
              </li>
            ))}
        </ul>
      </nav>
      <details className="shell-options">
        <summary>
          <Icon name="options" /> <span>View</span>
        </summary>
        <div>
          <Choice
            legend="Colours"
            value={theme}
            options={{ system: 'System', light: 'Light', dark: 'Dark' }}
            onChange={(chosen) => changeAppearance({ theme: chosen })}
          />
          <Choice
            legend="Times"
            value={clock}
            options={{ local: 'Local', utc: 'UTC' }}
            onChange={(chosen) => changeAppearance({ clock: chosen })}
          />
          <p className="quiet">
            {session.key_name ? `${session.key_name}, ` : ''}
            {session.role} of {session.tenant}
          </p>
          {session.csrf !== null ? (
            <button type="button" className="button" onClick={() => void signOut()}>
              Sign out
            </button>
          ) : (
            <button type="button" className="button" onClick={onSignIn}>
              Sign in with a key
            </button>
          )}
        </div>
      </details>
    </header>
  );
}

interface ChoiceProps<Value extends string> {
  readonly legend: string;
  readonly value: Value;
  readonly options: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
}

function Choice<Value extends string>({ legend, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <fieldset className="choice">
      <legend>{legend}</legend>
      {(Object.keys(options) as Value[]).map((one) => (
        <label key={one}>
          <input type="radio" name={legend} checked={one === value} onChange={() => onChange(one)} />
          <span>{options[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Shown above the page while the gateway does not answer; disappears automatically. */
function GatewayBanner() {
  const away = useSyncExternalStore(gateway.subscribe, gateway.isGone);
  return (
    <div role="status" className="banner-place">
      {away && (
        <p className="banner">
          <Icon name="warning" /> The gateway does not answer. This page retries automatically; what it shows may be outdated.
        </p>
      )}
    </div>
  );
}

/** Title of the window; after a change of page, the focus moves to the content, so that a screen reader reads it. */
function PageTitle() {
  const title = useRouterState({ select: ({ matches }) => pageRoutes.find(({ path }) => path === matches.at(-1)?.fullPath)?.title });
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const first = useRef(path);
  useEffect(() => {
    document.title = title ? `${title} - Conclave` : 'Conclave';
    if (first.current === path) return;
    first.current = path;
    document.getElementById('content')?.focus({ preventScroll: true });
  }, [title, path]);
  return null;
}
