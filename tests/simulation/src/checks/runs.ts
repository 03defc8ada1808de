import { resultId, type RunCompleted, type StepRecorded, type StreamBody } from '@conclave/contracts';
import { canonicalJson, foldStep, type RecordedStep, type RunState } from '@conclave/loop';
import { Replay } from '@conclave/replay';
import { chainHash, stateHash } from '@conclave/service-merger';
import { strategyOf } from '@conclave/strategies';
import { isErased } from '../world/effects.js';
import { minus, type Check, type Violation } from './check.js';

/**
 * Every accepted run has one terminal event on the log, one terminal entry in its stream, and a terminal state; other runs have none of
 * these.
 */
export const terminal: Check = ({ world, events }) => {
  const found: Violation[] = [];
  const say = (id: string, sentence: string) => void found.push({ check: '1 terminal', id, sentence });
  const accepted = new Set(world.observations.accepted.map(({ runId }) => runId));
  const completed = (events.get('run.completed') ?? []) as RunCompleted[];
  const ended = new Set(completed.map(({ runId }) => runId));
  for (const id of minus(accepted, ended)) if (!isErased(world, id)) say(id, 'was accepted but has no terminal event');
  for (const id of minus(ended, accepted)) say(id, 'has a terminal event but was never accepted');
  for (const id of ended) {
    const count = completed.filter(({ runId }) => runId === id).length;
    if (count > 1) say(id, `has ${count} different terminal events`);
  }
  for (const id of accepted) {
    const entries = bodiesOf(world, id).filter(({ kind }) => kind === 'run.completed').length;
    if (entries !== (isErased(world, id) ? 0 : 1)) say(id, `has ${entries} terminal entries in its stream`);
    if (!world.stores.runs.rows.get(id)?.terminal) say(id, 'has no terminal state');
  }
  return found;
};

/** Everything acknowledged is on the log, and nothing is there that was not sent. */
export const appends: Check = ({ world }) => {
  const { acknowledged, sent } = world.observations;
  return [
    ...minus(acknowledged, world.logged).map((id): Violation => ({
      check: '2 appends',
      id,
      sentence: 'was acknowledged but is not on the log',
    })),
    ...minus(world.logged, sent).map((id): Violation => ({ check: '2 appends', id, sentence: 'is on the log but was never sent' })),
  ];
};

/** Every dispatched task has an outcome, and exactly one took effect; no outcome took effect for a task that was not dispatched. */
export const outcomes: Check = ({ world, events }) => {
  const found: Violation[] = [];
  const say = (id: string, sentence: string) => void found.push({ check: '3 outcomes', id, sentence });
  const dispatched = new Set([...events].flatMap(([topic, all]) => (topic.startsWith('tasks.dispatched.') ? all.map(({ id }) => id) : [])));
  const results = new Set((events.get('results.ready') ?? []).map(({ id }) => id));
  const shown = new Set<string>();
  const settled = new Map<string, number>();
  for (const runId of world.stores.runs.rows.keys())
    for (const entry of bodiesOf(world, runId)) {
      if (entry.kind === 'task.dispatched') shown.add(entry.taskId);
      if (entry.kind === 'task.settled') settled.set(entry.taskId, (settled.get(entry.taskId) ?? 0) + 1);
    }
  const isKept = (id: string): boolean => !isErased(world, id.split('/', 1)[0]!);
  for (const id of minus(shown, dispatched)) say(id, 'was committed as dispatched but is not on the log');
  for (const id of minus(dispatched, shown)) if (isKept(id)) say(id, 'is on the log but was never committed as dispatched');
  for (const id of dispatched) {
    if (!isKept(id)) continue;
    const effective = settled.get(id) ?? 0;
    if (effective !== 1) say(id, `has ${effective} outcomes that took effect`);
    if (effective === 0 && !results.has(resultId(id))) say(id, 'has no outcome at all');
  }
  return found;
};

/** The recorded steps of every run, replayed through the same engine, produce the same facts, outputs and hashes to the end. */
export const replay: Check = ({ world, events }) => {
  const found: Violation[] = [];
  const steps = new Map<string, RecordedStep[]>();
  for (const event of (events.get('audit') ?? []) as StepRecorded[]) {
    if (event.type !== 'StepRecorded') continue;
    steps.set(event.runId, [...(steps.get(event.runId) ?? []), event.data]);
  }
  for (const { runId, version, state, terminal: isOver } of world.stores.runs.rows.values()) {
    if (version === 0 || isErased(world, runId)) continue;
    const again = new Replay(runId, { strategyOf, chainHash, stateHash });
    const recorded = steps.get(runId) ?? [];
    for (const step of recorded) again.take(step);
    const result = again.result();
    const whole = result.kind === 'same' && result.steps === version && result.ended === isOver;
    if (!whole)
      found.push({
        check: '7 replay',
        id: `${runId}/step/${'version' in result ? result.version : result.steps}`,
        sentence: `replays as ${JSON.stringify(result).slice(0, 300)}, stored version ${version}`,
      });
    else if (canonicalJson(foldedOf(runId, recorded)) !== canonicalJson(JSON.parse(state!)))
      found.push({ check: '7 replay', id: runId, sentence: 'has a state that differs from the fold of its facts' });
  }
  return found;
};

/** The state that results from folding the recorded facts of a run, without deciding anything again. */
const foldedOf = (runId: string, steps: readonly RecordedStep[]): RunState | null =>
  [...new Map(steps.map((step) => [step.version, step])).values()]
    .sort((a, b) => a.version - b.version)
    .reduce<RunState | null>((state, step) => foldStep(runId, state, step, strategyOf), null);

/** A retry with the same key finds the first run of that key, and an Idempotency-Key makes one run. */
export const retries: Check = ({ world }) => {
  const found: Violation[] = [];
  for (const { retryKey, runId, expected } of world.observations.retriesFound)
    if (runId !== expected)
      found.push({
        check: 'retries',
        id: retryKey.slice(0, 12),
        sentence: `led to ${runId ?? 'no run'}, but its first run is ${expected ?? 'none'}`,
      });
  return found;
};

export const bodiesOf = (
  world: {
    readonly stores: {
      readonly stream: { readonly streams: ReadonlyMap<string, { readonly entries: readonly { readonly body: string }[] }> };
    };
  },
  runId: string,
): readonly StreamBody[] => (world.stores.stream.streams.get(runId)?.entries ?? []).map(({ body }) => JSON.parse(body) as StreamBody);
