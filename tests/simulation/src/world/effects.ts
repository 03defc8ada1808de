import {
  ancestorsOf,
  childRunId,
  documentSetting,
  gapId,
  planId,
  resultId,
  rootOf,
  StoredDocument,
  type KnowledgeProposed,
  type PlanRequested,
  type RunCompleted,
} from '@conclave/contracts';
import { firstPlanAsked, inputOf, step, type RunState } from '@conclave/loop';
import type { RawRecord } from '@conclave/ports';
import { strategyOf, teaches } from '@conclave/strategies';
import type { Surroundings } from './surroundings.js';

/** The effects that must be durable once a group has finished a record, but are not; empty if all of them are. */
export function missingEffect(world: Surroundings, group: string, record: string): readonly string[] {
  const slash = record.lastIndexOf('/');
  const topic = record.slice(0, record.lastIndexOf('/', slash - 1));
  const raw = world.broker.records(topic)[Number(record.slice(slash + 1))];
  if (!raw || isDead(world, group, record)) return [];
  const type = raw.headers.ce_type;
  const runId = raw.headers.ce_runid;
  const id = raw.headers.ce_id;
  if (!type || !runId || !id) return [`the dead letter of ${record}`];
  // Nothing of a deleted run has to become durable any more.
  if (isErased(world, runId)) return [];
  switch (group) {
    case 'merger':
      return ofEngine(world, { type, runId, id }, raw);
    case 'planner':
      return ofPlanner(world, { type, runId, id }, raw);
    case 'graph-ingest':
      return type === 'KnowledgeProposed' ? ofProposal(world, raw) : ofIngest(world, runId, raw);
    case 'learning':
      return type === 'RunCompleted' ? ofLearning(world, runId, raw) : [];
    case 'webhooks':
      return type === 'RunCompleted' ? ofWebhooks(world, runId, raw) : [];
    default:
      return taskIsAnswered(world, raw);
  }
}

/** Whether the run, or the one that a client requested it with, was deleted. */
export const isErased = ({ stores }: Pick<Surroundings, 'stores'>, runId: string): boolean =>
  [runId, rootOf(runId)].some((id) => stores.runs.rows.get(id)?.erased !== undefined);

/** A dead-lettered record has its letter on the topic of dead letters. */
const isDead = ({ broker }: Surroundings, group: string, record: string): boolean =>
  broker
    .records('dead')
    .some(
      ({ headers }) =>
        headers['dead-group'] === group && `${headers['dead-topic']}/${headers['dead-partition']}/${headers['dead-offset']}` === record,
    );

/** Bodies above the threshold are among the blobs; nothing here needs to look into them. */
const dataOf = <E extends { readonly data: unknown }>(raw: RawRecord): E['data'] | null =>
  raw.headers.ce_dataref ? null : (JSON.parse(raw.raw!.toString()) as E['data']);

interface Address {
  readonly type: string;
  readonly runId: string;
  readonly id: string;
}

function ofEngine(world: Surroundings, { type, runId, id }: Address, raw: RawRecord): readonly string[] {
  const { runs } = world.stores;
  const outputs = world.observations.outputs.get(`${runId} ${id}`);
  if (outputs) return outputs.filter((output) => !world.logged.has(output));
  const row = runs.rows.get(runId);
  if (row?.terminal) return [];
  // If its task is flagged as cancelled, a child run that was never accepted does not begin.
  if (!row && type === 'CommandIssued' && ancestorsOf(runId).some((above) => runs.flagged.has(above))) return [];
  // A run that has a state has begun, either with its request or from its header.
  const isDone = row?.state && (type === 'PlanRequested' || isIgnored(JSON.parse(row.state) as RunState, { type, runId, id }, raw));
  return isDone ? [] : [`the step of ${id}`];
}

/** Whether the input has no consequences in this state, so that the engine takes no step. */
function isIgnored(state: RunState, { type, runId, id }: Address, raw: RawRecord): boolean {
  const time = Date.parse(raw.headers.ce_time!);
  try {
    return step(state, inputOf(runId, { id, type, time, data: dataOf(raw) }), Date.now(), strategyOf) === null;
  } catch {
    // The input concerns something that this state does not contain yet, or its body is stored elsewhere. Neither is a reason to ignore it.
    return false;
  }
}

function ofPlanner(world: Surroundings, { type, runId, id }: Address, raw: RawRecord): readonly string[] {
  const { runs } = world.stores;
  const row = runs.rows.get(runId);
  const isOver = (id: string): boolean => runs.flagged.has(id) || runs.rows.get(id)?.terminal === true;
  if ([runId, ...ancestorsOf(runId)].some(isOver)) return [];
  const epoch = type === 'PlanRequested' ? 0 : Number(/\/(\d+)\/gap$/.exec(id)?.[1]) + 1;
  if (epoch > 0 && gapId(runId, epoch - 1) !== id) return [`a plan for ${id}`];
  const plan = planId(runId, epoch);
  if (world.logged.has(`plan.created ${plan}`)) return [];
  // The planner is too late for a run that has made its own plan, whatever the run is waiting for now.
  if (epoch === 0 && row?.state && (JSON.parse(row.state) as RunState).awaiting?.epoch !== 0) return [];
  if (epoch === 0 && awaitsNoPlan({ type, runId, id }, raw)) return [];
  if (epoch > 0 && Date.now() >= Date.parse(raw.headers.ce_time!) + world.templates.committee.planning_timeout_s * 1000) return [];
  return [plan];
}

/** Whether the run begins without a planner, such as a run that a cache has answered, even if the engine has not recorded that yet. */
function awaitsNoPlan({ type, runId, id }: Address, raw: RawRecord): boolean {
  const data = dataOf<PlanRequested>(raw);
  if (!data) return false;
  const request = inputOf(runId, { id, type, time: Date.parse(raw.headers.ce_time!), data });
  return request.type === 'PlanRequested' && firstPlanAsked(request, strategyOf) === null;
}

function ofIngest(world: Surroundings, runId: string, raw: RawRecord): readonly string[] {
  const data = dataOf<RunCompleted>(raw);
  if (!data?.insight || data.cached || data.outcome === 'cancelled' || data.outcome === 'failed') return [];
  return world.graphStore.learned().includes(`${data.caller.tenant} ${runId}`) ? [] : [`what ${runId} has learned`];
}

/** Once learning from a run is done, the caches contain its models. They are written last, except for the answer itself. */
function ofLearning({ observations }: Surroundings, runId: string, raw: RawRecord): readonly string[] {
  const data = dataOf<RunCompleted>(raw);
  if (!data || (!data.cached && !teaches(data))) return [];
  return observations.cacheKeys.has(`${data.caller.tenant} experts/${runId}`) ? [] : [`what is learned of ${runId}`];
}

/** The receivers that a run names were notified of its end. */
function ofWebhooks({ observations }: Surroundings, runId: string, raw: RawRecord): readonly string[] {
  const named = dataOf<RunCompleted>(raw)?.deliver ?? [];
  return named.flatMap((target) =>
    'webhook' in target && !observations.told.has(`${runId}_${target.webhook}`) ? [`the webhook ${target.webhook} of ${runId}`] : [],
  );
}

function ofProposal(world: Surroundings, raw: RawRecord): readonly string[] {
  const data = dataOf<KnowledgeProposed>(raw);
  if (data?.kind === 'erasure' && world.graphStore.learned().includes(`${data.tenant} ${data.about}`))
    return [`the forgetting of ${data.about}`];
  if (!data?.document) return [];
  const { collection, id } = data.document;
  const stored = StoredDocument.safeParse(world.stores.settings.newest(documentSetting(data.tenant, collection, id)));
  // Work for an earlier attempt belongs to another process by now.
  const isOpen = stored.success && ['queued', 'reading', 'embedding'].includes(stored.data.status);
  return isOpen && raw.headers.ce_id === `${id}/${stored.data.take}` ? [`the document ${id}`] : [];
}

function taskIsAnswered(world: Surroundings, raw: RawRecord): readonly string[] {
  const id = resultId(raw.headers.ce_id!);
  // A child run has begun, and its end will be the result.
  if (world.logged.has(`plan.requested ${childRunId(raw.headers.ce_id!)}`)) return [];
  return world.logged.has(`results.ready ${id}`) ? [] : [id];
}
