import { useQuery } from '@tanstack/react-query';
import { api, ApiError, connectSession } from './client.js';
import { queries } from './queries.js';

export type Role = 'user' | 'auditor' | 'admin';

/** Who is signed in, as `GET /v1/session` says. Where no keys are configured everybody on this machine is an admin. */
export interface Session {
  readonly role: Role;
  readonly tenant: string;
  readonly key_name: string;
  /** Sent with every request that changes something; null where no cookie is used. */
  readonly csrf: string | null;
}

const key = ['session'];
const setToken = connectSession(() => queries.setQueryData(key, null));

async function readSession(): Promise<Session | null> {
  try {
    return kept(await api.get<Session>('/v1/session'));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

function kept(session: Session): Session {
  setToken(session.csrf);
  return session;
}

/** `data` is null for a stranger, who has to sign in. */
export const useSessionQuery = () => useQuery({ queryKey: key, queryFn: readSession, staleTime: Infinity });

/** The session of a signed-in reader. Only for what stands inside the shell. */
export function useSession(): Session {
  const { data } = useSessionQuery();
  if (!data) throw new Error('Nobody is signed in.');
  return data;
}

/** Takes an API key for a cookie that scripts cannot read. Throws ApiError. */
export async function signIn(apiKey: string): Promise<void> {
  const session = kept(await api.post<Session>('/v1/session', { key: apiKey }));
  queries.clear();
  queries.setQueryData(key, session);
}

export async function signOut(): Promise<void> {
  await api.delete('/v1/session');
  setToken(null);
  queries.clear();
  queries.setQueryData(key, null);
}
