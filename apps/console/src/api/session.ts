import type { SessionView } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { api, ApiError, connectSession } from './client.js';
import { queries } from './queries.js';

export type Session = SessionView;
export type Role = Session['role'];

const key = ['session'];
const setToken = connectSession(
  () => queries.setQueryData(key, null),
  () => void queries.invalidateQueries({ queryKey: key }),
);

/** The token of a one-time link, which follows `#`; it is removed from the address immediately. */
function tokenOfLink(): string | null {
  const token = /^#signin=([\w-]+)$/.exec(location.hash)?.[1] ?? null;
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}
let linkToken = tokenOfLink();

async function readSession(): Promise<Session | null> {
  const token = linkToken;
  linkToken = null;
  try {
    return kept(token === null ? await api.get<Session>('/v1/session') : await api.post<Session>('/v1/session', { token }));
  } catch (error) {
    // A used link opens the sign-in page, or the console if no key is needed.
    if (token !== null && error instanceof ApiError && error.status < 500) return readSession();
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

function kept(session: Session): Session {
  setToken(session.csrf);
  return session;
}

/** `data` is null for a reader who has to sign in. */
export const useSessionQuery = () => useQuery({ queryKey: key, queryFn: readSession, staleTime: Infinity });

/** The session of a signed-in reader. Only for components inside the shell. */
export function useSession(): Session {
  const { data } = useSessionQuery();
  if (!data) throw new Error('No one is signed in.');
  return data;
}

/** Exchanges an API key for a cookie that scripts cannot read. Throws ApiError. */
export async function signIn(apiKey: string): Promise<void> {
  const session = kept(await api.post<Session>('/v1/session', { key: apiKey }));
  queries.setQueryData(key, session);
  forget();
}

/** Clears what was read under another identity. The session itself stays: the components that show it listen to it. */
const forget = (): void => queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== key[0] });

export async function signOut(): Promise<void> {
  await api.delete('/v1/session');
  // A new load drops everything that was read with the key.
  location.assign('/');
}
