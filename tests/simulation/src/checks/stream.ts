import type { StreamBody } from '@conclave/contracts';
import type { RunState } from '@conclave/loop';
import type { Check, Violation } from './check.js';
import { isErased } from '../world/effects.js';
import { bodiesOf } from './runs.js';

/**
 * In every stream, the text of an attempt has no gap and no overlap; attempt numbers only rise; the first entry of a higher attempt follows
 * a mark that withdraws what the lower one showed; nothing follows the end. The answer equals the text that was shown. Over all its
 * reconnects, every client received the stream from its first id to its last, each id once and in order.
 */
export const stream: Check = ({ world }) => {
  const found: Violation[] = [];
  for (const { runId, state } of world.stores.runs.rows.values()) {
    const bodies = bodiesOf(world, runId);
    const texts = new Map<string, string>();
    for (const { at, sentence } of faultsOf(bodies, texts)) found.push({ check: '5 stream', id: `${runId}#${at}`, sentence });
    const composed = state ? composedOf(JSON.parse(state) as RunState) : null;
    if (composed && texts.get(composed.taskId) !== composed.answer)
      found.push({
        check: '5 stream',
        id: composed.taskId,
        sentence: `showed ${JSON.stringify(texts.get(composed.taskId) ?? null)?.slice(-80)}, but the answer is ${JSON.stringify(composed.answer.slice(-80))}`,
      });
  }
  return [...found, ...clients({ world })];
};

interface Fault {
  readonly at: number;
  readonly sentence: string;
}

function faultsOf(bodies: readonly StreamBody[], texts: Map<string, string>): Fault[] {
  const faults: Fault[] = [];
  const attempts = new Map<string, number>();
  let ended = false;
  bodies.forEach((body, index) => {
    const say = (sentence: string) => void faults.push({ at: index + 1, sentence });
    if (ended) say(`follows the end (${body.kind})`);
    if (body.kind === 'run.completed') ended = true;
    if (body.kind !== 'chunk' && body.kind !== 'progress' && body.kind !== 'superseded') return;
    const { taskId, attempt } = body;
    const before = attempts.get(taskId) ?? 0;
    const shown = texts.get(taskId) ?? '';
    if (body.kind === 'superseded') {
      if (attempt <= before) say(`attempt ${attempt} supersedes attempt ${before}`);
      if (body.discarded !== shown.length) say(`withdraws ${body.discarded} of ${shown.length} characters`);
      texts.set(taskId, '');
      attempts.set(taskId, attempt);
      return;
    }
    if (attempt < before) say(`attempt ${attempt} writes after attempt ${before}`);
    if (attempt > before && shown !== '')
      say(`attempt ${attempt} begins, but nothing withdraws the ${shown.length} characters of attempt ${before}`);
    attempts.set(taskId, Math.max(before, attempt));
    if (body.kind !== 'chunk') return;
    const present = attempt > before ? '' : shown;
    if (body.offset !== present.length) say(`a chunk at character ${body.offset} follows ${present.length} characters`);
    texts.set(taskId, present + body.text);
  });
  return faults;
}

/** The task whose live text is the answer, and that answer; null if the answer was produced in another way. A draft is held back. */
function composedOf(run: RunState): { readonly taskId: string; readonly answer: string } | null {
  const answer = run.endedAt === null ? null : run.answer;
  const composer = Object.entries(run.tasks).findLast(([, task]) => task.spec.capability === 'judge.synthesis');
  if (!answer || composer?.[1].stream !== 'live' || composer[1].result?.status !== 'ok') return null;
  return composer[1].result.text === answer.text ? { taskId: composer[0], answer: answer.text } : null;
}

function clients({ world }: Pick<Parameters<Check>[0], 'world'>): Violation[] {
  const found: Violation[] = [];
  for (const { name, seen, ended, gone } of world.observations.clients)
    for (const [runId, ids] of seen) {
      const last = world.stores.stream.streams.get(runId)?.entries.length ?? 0;
      const isGone = isErased(world, runId);
      const wanted = ended.has(runId) && !isGone ? last : ids.length;
      const whole = ids.length === wanted && ids.every((id, index) => id === index + 1);
      if (!whole) found.push({ check: '5 stream', id: `${name} ${runId}`, sentence: `saw the ids ${ids.join(',')} of 1..${last}` });
      if (!ended.has(runId) && !(isGone && gone.has(runId)))
        found.push({ check: '5 stream', id: `${name} ${runId}`, sentence: 'never received the end' });
    }
  return found;
}
