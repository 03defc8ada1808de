import { rootOf } from '@conclave/contracts';
import type { DeletedRun } from '../evidence/evidence.js';
import { storedTexts } from './stored-texts.js';
import type { World } from './world.js';

/** Places in which runs that are kept leave something: that nothing is left of a deleted one would show nothing if they were empty. */
const filled = {
  embedded: ['run', 'stream_entry', 'journal', 'cache', 'vector_record', 'graph_entity', 'graph_relation'].map(
    (name) => `the table ${name}`,
  ),
  distributed: ['the log or the state store', 'the knowledge graph', 'the vectors'],
} as const;

/**
 * Looks for what is left of deleted runs, as readers see them and as the stores keep them. Throws if a store has nothing of the runs `kept` either.
 */
export async function remainsOf(
  world: World,
  deleted: ReadonlyMap<string, number>,
  kept: readonly string[],
): Promise<readonly DeletedRun[]> {
  const stores = await storedTexts(world);
  const placesOf = (runId: string): readonly string[] => {
    const { id, question } = world.load.asked.find((one) => one.runId === runId)!;
    const word = wordOf(question);
    // The key of a retry is kept on purpose, and contains the name of its question.
    return stores.flatMap(({ place, text }) => (text.replaceAll(id, '').includes(word) ? [place] : []));
  };
  const used = new Set(kept.flatMap(placesOf));
  const empty = filled[world.mode].filter((place) => !used.has(place));
  if (empty.length > 0) throw new Error(`The runs that were kept left nothing in ${empty.join(', ')}.`);
  const listed = await listedRuns(world);
  const family = familyOf(world, deleted);
  return Promise.all(
    [...deleted].map(async ([runId, at]) => {
      const shown = (await Promise.all(family.get(runId)!.map((one) => shownOf(world, one)))).flat();
      return { runId, at, left: [...shown, ...(listed.has(runId) ? ['the list of runs'] : []), ...placesOf(runId)] };
    }),
  );
}

/** The part of a question that no other question contains. */
const wordOf = (question: string): string => /-([0-9a-f]{8})[^\w]/.exec(question)![1]!;

/** Each deleted run with its child runs, according to the history of what was published. */
function familyOf({ system }: World, deleted: ReadonlyMap<string, number>): ReadonlyMap<string, readonly string[]> {
  const families = new Map([...deleted.keys()].map((runId) => [runId, new Set([runId])]));
  for (const { op, data } of system.history()) {
    if (op !== 'publish') continue;
    const { events = [] } = (data ?? {}) as { readonly events?: readonly { readonly runId: string }[] };
    for (const { runId } of events) families.get(rootOf(runId))?.add(runId);
  }
  return new Map([...families].map(([runId, ids]) => [runId, [...ids]]));
}

/** Addresses under which a run can still be read. */
async function shownOf({ system }: World, runId: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of ['', '/events', '/facts']) {
    const { status, body } = await fetch(`${system.url()}/v1/runs/${runId}${path}`);
    await body?.cancel();
    if (status !== 404 && status !== 410) found.push(`GET /v1/runs/${runId}${path}: ${status}`);
  }
  return found;
}

async function listedRuns({ system }: World): Promise<ReadonlySet<string>> {
  const response = await fetch(`${system.url()}/v1/runs?limit=100`);
  return new Set(((await response.json()) as { data: readonly { id: string }[] }).data.map(({ id }) => id));
}
