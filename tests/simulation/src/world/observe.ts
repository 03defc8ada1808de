import { timerId, type Event } from '@conclave/contracts';
import type {
  AcceptRequest,
  BeginResult,
  CacheWrite,
  Committed,
  DeliveryKey,
  DueTimer,
  MemoryStores,
  VectorRecord,
  VectorScope,
} from '@conclave/ports';
import { missingEffect } from './effects.js';
import { markOf } from './marks.js';
import type { LivingProcess, Surroundings } from './surroundings.js';

/** Records what a call of a process did, at the moment it did it. */
export function observe(world: Surroundings, process: LivingProcess, point: string, args: readonly unknown[], result: unknown): void {
  const { observations, stores } = world;
  switch (point) {
    case 'log.publish':
      return observations.acknowledge(args[0] as readonly Event[]);
    case 'runs.accept': {
      const { header, retryKey } = args[0] as AcceptRequest;
      if ((result as { kind: string }).kind !== 'accepted') return;
      observations.accepted.push({ runId: header.runId, retryKey });
      observations.tenants.set(markOf(header.runId), header.data.caller.tenant);
      return;
    }
    case 'runs.findRetry': {
      const retryKey = args[0] as string;
      const expected = observations.accepted.find((one) => one.retryKey === retryKey)?.runId ?? null;
      observations.retriesFound.push({ retryKey, runId: result as string | null, expected });
      return;
    }
    case 'runs.cancel':
      observations.cancelsIssued.add(args[0] as string);
      return noteOver(world, args[0] as string);
    case 'runs.commit': {
      const event = args[0] as Event;
      const { repeated, state, outputs } = result as Committed<unknown>;
      if (!repeated && state === null && event.type === 'CommandIssued' && stores.runs.rows.get(event.runId)?.terminal === false)
        observations.ignored.push(event.id);
      if (repeated || state === null) return;
      observations.outputs.set(
        `${event.runId} ${event.id}`,
        outputs.map(({ topic, id }) => `${topic} ${id}`),
      );
      if (stores.runs.rows.get(event.runId)?.terminal) noteOver(world, event.runId);
      return;
    }
    case 'journal.begin': {
      const { step, owner } = args[0] as { step: string; owner: string };
      const begun = result as BeginResult;
      if (begun.kind !== 'begun') return;
      if (stores.runs.rows.get(step.split('/', 1)[0]!)?.erased) observations.begunErased.push(step);
      const before = observations.attempts.findLast((attempt) => attempt.step === step && attempt.attempt < begun.attempt);
      if (observations.attempts.some((attempt) => attempt.step === step && attempt.attempt === begun.attempt && attempt.owner === owner))
        return;
      const predecessorLived = before !== undefined && stores.leases.leftMs(before.owner) > 0;
      observations.attempts.push({ step, attempt: begun.attempt, owner, predecessorLived });
      return;
    }
    case 'journal.finish': {
      const { step, attempt } = args[0] as { step: string; attempt: number };
      // Of a deleted run nothing is stored, whatever the answer.
      if (stores.runs.rows.get(step.split('/', 1)[0]!)?.erased) return;
      const newest = Math.max(0, ...observations.attempts.filter((one) => one.step === step).map((one) => one.attempt));
      observations.finishes.push({ step, attempt, answer: result as 'stored' | 'refused', newest, order: observations.nextOrder() });
      return;
    }
    case 'journal.abandon': {
      const { step, attempt } = args[0] as { step: string; attempt: number };
      observations.abandoned.add(`${step} ${attempt}`);
      return;
    }
    case 'timers.remove': {
      const { runId, arm } = args[0] as DueTimer;
      const id = timerId(runId, arm);
      if (!world.logged.has(`run.timers ${id}`)) observations.timersLost.push(id);
      return;
    }
    case 'deliveries.done': {
      const { group, record } = args[0] as DeliveryKey;
      for (const missing of missingEffect(world, group, record)) observations.doneTooEarly.push({ record: `${group} ${record}`, missing });
      return;
    }
    case 'vectors.upsert': {
      const [{ collection }, records] = args as [VectorScope, readonly VectorRecord[]];
      if (collection.startsWith('documents/')) return;
      for (const { id, metadata } of records) noteKept(world, `${collection} ${id}`, String(metadata['run'] ?? id));
      return;
    }
    default:
  }
}

/** Keys under which the workers of tasks cache results. */
const foundByWorkers = /^(?:subtopic\/|graph-context:|research)/;

/**
 * Records what any service caches from a run, and whether the run had ended at that time. Findings of a worker in documents and the graph are
 * cached immediately; they have the tag of the run only so that they are deleted with it.
 */
export function watchCaches(world: Surroundings, { caches }: MemoryStores): void {
  const write = caches.write.bind(caches);
  caches.write = async (entry: CacheWrite) => {
    const isWritten = await write(entry);
    if (!isWritten) return false;
    world.observations.cacheKeys.add(`${entry.tenant} ${entry.key}`);
    if (foundByWorkers.test(entry.key)) return true;
    for (const tag of entry.tags) if (tag.startsWith('run:')) noteKept(world, entry.key, tag.slice('run:'.length));
    return true;
  };
}

function noteKept({ observations, logged }: Surroundings, where: string, runId: string): void {
  observations.kept.push({ where, runId, ended: logged.has(`run.completed ${runId}/completed`) });
}

function noteOver({ observations }: Surroundings, id: string): void {
  if (!observations.over.has(id)) observations.over.set(id, Date.now());
}
