import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { usualPort } from '../listen.js';
import { GatewayClient } from './gateway-client.js';

const noteOf = (home: string): string => join(home, 'gateway.json');

/** Leaves a note in the data folder where its gateway listens, so that commands find it at whatever port. Gives what takes the note away. */
export function noteGateway(home: string, url: string): () => void {
  writeFileSync(noteOf(home), JSON.stringify({ url, pid: process.pid }), { mode: 0o600 });
  return () => rmSync(noteOf(home), { force: true });
}

function notedUrl(home: string): string | null {
  try {
    const { url } = JSON.parse(readFileSync(noteOf(home), 'utf8')) as { url?: unknown };
    return typeof url === 'string' ? url : null;
  } catch {
    // No note, or one that was cut off: nothing runs on this folder as far as it can tell.
    return null;
  }
}

/**
 * The gateway to talk to: CONCLAVE_URL, else the one of the data folder, else the one at the usual port; null when none
 * answers. A CONCLAVE_URL that does not answer is an error: somebody meant that one.
 */
export async function findGateway(where: {
  readonly url: string | undefined;
  /** CONCLAVE_API_KEY. */
  readonly key?: string | undefined;
  readonly home: string;
  readonly port: number | undefined;
}): Promise<GatewayClient | null> {
  if (where.url) {
    const client = new GatewayClient(where.url.replace(/\/(v1\/?)?$/, ''), where.key);
    if (await client.answers()) return client;
    throw new Error(`No Conclave gateway answers at CONCLAVE_URL=${where.url}.`);
  }
  const candidates = [notedUrl(where.home), `http://127.0.0.1:${where.port ?? usualPort}`].filter((url) => url !== null);
  for (const url of new Set(candidates)) {
    const client = new GatewayClient(url, where.key);
    if (await client.answers()) return client;
  }
  return null;
}
