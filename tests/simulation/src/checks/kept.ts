import { documentSetting, StoredDocument, type CallRecorded, type PlanRequested, type RunCompleted } from '@conclave/contracts';
import { documentsCollection } from '@conclave/ports';
import { collection } from '../world/templates.js';
import { isErased } from '../world/effects.js';
import { minus, type Check, type Violation } from './check.js';

/**
 * An Idempotency-Key makes one run: every request with it leads to the run of its key, at any gateway and any number of times. Another run
 * starts only if the previous one ended without an answer.
 */
export const idempotency: Check = ({ world, events }) => {
  const found: Violation[] = [];
  const requested = (events.get('plan.requested') ?? []) as PlanRequested[];
  for (const key of new Set(world.observations.clients.flatMap((client) => client.key ?? []))) {
    const clients = world.observations.clients.filter((client) => client.key === key);
    // A client that cancels may have started the next run while the previous one was still ending.
    if (clients.some(({ cancelled }) => cancelled)) continue;
    const runs = new Set(clients.flatMap(({ requests }) => requests.flatMap(({ runId }) => runId ?? [])));
    const withAnswer = [...runs].filter((runId) => {
      const row = world.stores.runs.rows.get(runId);
      return row?.terminal && !row.erased && row.status !== 'cancelled' && row.status !== 'failed';
    });
    if (withAnswer.length > 1)
      found.push({
        check: 'idempotency',
        id: key.slice(0, 12),
        sentence: `made ${withAnswer.length} runs with an answer: ${withAnswer.join(', ')}`,
      });
  }
  for (const { runId } of requested) {
    const different = requested.filter((event) => event.runId === runId).length;
    if (different > 1) found.push({ check: 'idempotency', id: runId, sentence: `was requested in ${different} different ways` });
  }
  return found;
};

/** Nothing is cached from a run that has not ended, and everything that a cache returned is the answer of a completed run. */
export const caches: Check = ({ world, events }) => {
  const completed = new Map(((events.get('run.completed') ?? []) as RunCompleted[]).map((event) => [event.runId, event.data]));
  return [
    ...world.observations.kept
      .filter(({ ended }) => !ended)
      .map(({ where, runId }): Violation => ({ check: 'caches', id: where, sentence: `was cached from ${runId}, which had not ended` })),
    ...[...completed].flatMap(([runId, { cached, answer, outcome }]): Violation[] => {
      if (!cached || outcome !== 'completed') return [];
      const source = completed.get(cached.runId);
      if (isErased(world, cached.runId) || (source?.outcome === 'completed' && source.answer === answer)) return [];
      return [{ check: 'caches', id: runId, sentence: `was answered from ${cached.runId}, which did not end with that answer` }];
    }),
  ];
};

/** A call with an effect outside the system is made once, no matter how many workers die during it. */
export const effects: Check = ({ world }) => {
  const { orders } = world.observations;
  return [...new Set(orders)].flatMap((item): Violation[] => {
    const times = orders.filter((one) => one === item).length;
    return times === 1 ? [] : [{ check: 'effects', id: item, sentence: `was ordered ${times} times` }];
  });
};

/** The ledger has every attempt of a recorded call, once: the sums of a run are those of its calls. */
export const usage: Check = ({ world, events }) => {
  const found: Violation[] = [];
  const records = ((events.get('audit') ?? []) as CallRecorded[]).filter(({ type }) => type === 'CallRecorded');
  for (const runId of world.stores.runs.rows.keys()) {
    const kept = world.stores.usage.callsOf(runId);
    for (const { data } of records.filter((record) => record.runId === runId && record.data.usage.calls > 0)) {
      const id = `${data.step} ${data.attempt}`;
      const counted = kept.filter(({ step, attempt }) => step === data.step && attempt === data.attempt);
      if (counted.length !== 1) found.push({ check: 'usage', id, sentence: `is in the ledger ${counted.length} times` });
      else if (counted[0]!.usage.prompt !== data.usage.prompt || counted[0]!.usage.completion !== data.usage.completion)
        found.push({ check: 'usage', id, sentence: 'has different tokens in the ledger than in its record' });
    }
    // A call that is cancelled at the moment it is sent is counted, although its server never received it.
    const begun = new Set(world.observations.attempts.map(({ step, attempt }) => `${step} ${attempt}`));
    for (const id of minus(
      kept.map(({ step, attempt }) => `${step} ${attempt}`),
      begun,
    ))
      found.push({ check: 'usage', id, sentence: 'is in the ledger but was never begun' });
  }
  return found;
};

/**
 * A document that is ready has all of its passages, a removed or failed one has none, and none is left half read. A document fails only if
 * the record that proposed it is a dead letter, which another check judges, and never after it was ready.
 */
export const documents: Check = ({ world, events }) => {
  const found: Violation[] = [];
  const givenUp = new Set((events.get('dead') ?? []).map(({ id }) => id));
  const scope = { tenant: 'default', collection: documentsCollection(collection, { id: 'simulated' }) };
  for (const [id, said] of world.observations.documents) {
    const say = (sentence: string): void => void found.push({ check: 'documents', id, sentence });
    const versions = world.stores.settings
      .history(documentSetting(scope.tenant, collection, id))
      .map((value) => StoredDocument.parse(value));
    const passages = world.vectorStore.recordsOf(scope).filter(({ metadata }) => metadata['document'] === id).length;
    // A removed document has no record; one that is still marked was not removed completely.
    const { status, total, take } = versions[0] ?? { status: 'missing', total: null, take: 0 };
    const isGone = status === 'deleted' || status === 'missing';
    const wasReady = versions.some((version) => version.take === take && version.status === 'ready');
    if (isGone && passages > 0) say(`was removed but has ${passages} passages`);
    else if (said === 'removed' && status !== 'missing') say(`was removed but is ${status}`);
    else if (status === 'failed' && wasReady) say('was ready, and then failed');
    else if (status === 'failed' && passages > 0) say(`has failed but has ${passages} passages`);
    else if (said === 'taken' && status !== 'ready' && !(status === 'failed' && givenUp.has(`${id}/${take}`)))
      say(`was accepted but is ${status}`);
    else if (status === 'ready' && passages !== total) say(`is ready but has ${passages} of ${total} passages`);
  }
  return found;
};
