import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKeyFile } from '@conclave/app-gateway';
import type { Loaded } from '@conclave/platform';
import { usualPort } from '../listen.js';
import { adminKeyFile } from '../own-doors.js';
import { GatewayClient, GatewayRefusal } from './gateway-client.js';

const noteOf = (home: string): string => join(home, 'gateway.json');

/** Writes the gateway's address to its data folder, so that commands find it on any port. Returns a function that removes it. */
export function noteGateway(home: string, url: string): () => void {
  writeFileSync(noteOf(home), JSON.stringify({ url, pid: process.pid }), { mode: 0o600 });
  return () => rmSync(noteOf(home), { force: true });
}

function notedUrl(home: string): string | null {
  try {
    const { url, pid } = JSON.parse(readFileSync(noteOf(home), 'utf8')) as { url?: unknown; pid?: unknown };
    if (typeof url !== 'string' || typeof pid !== 'number') return null;
    process.kill(pid, 0);
    return url;
  } catch {
    // Without a valid note of a live process, no gateway is known to run on this folder.
    return null;
  }
}

/**
 * The gateway at CONCLAVE_URL, else that of the data folder, else the one at the usual port; null when none answers. Throws if a
 * CONCLAVE_URL is set but does not answer. Without CONCLAVE_API_KEY the admin key is sent, but only to the gateway of its own data
 * folder, or if CONCLAVE_ADMIN_KEY_FILE names it: another program at the usual port must not learn it.
 */
export async function findGateway({ environment, home }: Pick<Loaded, 'environment' | 'home'>): Promise<GatewayClient | null> {
  const { CONCLAVE_URL: meant, CONCLAVE_API_KEY: given, CONCLAVE_ADMIN_KEY_FILE: named, PORT: port = usualPort } = environment;
  const elsewhere = given ?? (named === undefined ? undefined : (readKeyFile(named) ?? undefined));
  if (meant) {
    const client = new GatewayClient(meant.replace(/\/(v1\/?)?$/, ''), elsewhere);
    if (await client.answers()) return client;
    throw new GatewayRefusal(
      `No Conclave gateway answers at CONCLAVE_URL=${meant}. Start it there (\`npm start\`), correct the address, or unset CONCLAVE_URL to ask on this machine.`,
    );
  }
  const noted = notedUrl(home);
  const usual = `http://127.0.0.1:${port}`;
  const candidates = [
    ...(noted === null ? [] : [new GatewayClient(noted, elsewhere ?? readKeyFile(adminKeyFile(home)) ?? undefined)]),
    ...(noted === usual ? [] : [new GatewayClient(usual, elsewhere)]),
  ];
  for (const client of candidates) if (await client.answers()) return client;
  return null;
}
