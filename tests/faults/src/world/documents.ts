import { until } from '@conclave/test-support';
import type { World } from './world.js';

/** Milliseconds between two tries: the process that answers may be dead. */
const everyMs = 100;
const patienceMs = 60_000;

/** Sends a request until it is accepted, whatever dies in the meantime, and returns the body of the response. Throws with the last refusal. */
async function sent({ system }: World, method: string, path: string, body: object | null, accepted: readonly number[]): Promise<unknown> {
  let last = 'nothing';
  const once = async (): Promise<{ readonly body: unknown } | null> => {
    const response = await fetch(`${system.url()}/v1/collections${path}`, {
      method,
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    last = `${response.status} ${text}`;
    return accepted.includes(response.status) ? { body: JSON.parse(text) as unknown } : null;
  };
  try {
    const found = await until(`${method} ${path}`, () => once().catch((error: unknown) => void (last = String(error))), {
      timeoutMs: patienceMs,
      everyMs,
    });
    return found.body;
  } catch (error) {
    throw new Error(`${method} ${path} was not accepted: ${last}`, { cause: error });
  }
}

/** A document of a collection of its own. */
export interface Uploaded {
  readonly collection: string;
  readonly id: string;
}

/** Uploads a document; `accepted` is called as soon as it is, before it has been read. Resolves when it is ready. */
export async function upload(world: World, collection: string, text: string, accepted: () => Promise<void>): Promise<Uploaded> {
  await sent(world, 'POST', '', { name: collection, description: 'What is known of the questions.' }, [201]);
  const { id } = (await sent(world, 'POST', `/${collection}/documents`, { name: 'known.md', text }, [202])) as { readonly id: string };
  await accepted();
  await until(
    `the document of ${collection}`,
    async () =>
      ((await sent(world, 'GET', `/${collection}/documents/${id}`, null, [200])) as { readonly status: string }).status === 'ready' || null,
    { timeoutMs: patienceMs, everyMs },
  );
  return { collection, id };
}

/** Removes a document. A try whose response was lost may have removed it: then it is not found any more. */
export async function remove(world: World, { collection, id }: Uploaded): Promise<void> {
  await sent(world, 'DELETE', `/${collection}/documents/${id}`, null, [200, 404]);
}
