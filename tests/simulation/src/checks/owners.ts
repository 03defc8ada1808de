import { erasedId, rootOf, type StreamBody } from '@conclave/contracts';
import type { RunState } from '@conclave/loop';
import { isErased as isBlank } from '@conclave/ports';
import { isErased } from '../world/effects.js';
import { markOf, marksIn } from '../world/marks.js';
import type { Surroundings } from '../world/surroundings.js';
import type { Check, CheckName, Violation } from './check.js';
import { keptOf } from './remains.js';
import { bodiesOf } from './runs.js';

/**
 * A run is rated once: a different rating is refused afterwards. A rating never changes the run, and after a bad one nothing from the run is
 * kept for later questions.
 */
export const ratings: Check = ({ world }) => {
  const { found, say } = findings('ratings');
  const kept = keptOf(world);
  for (const { runId, rating, told, other, state } of world.observations.ratings) {
    if (isErased(world, runId)) continue;
    const now = world.stores.runs.rows.get(runId)!.state;
    if (state !== now) say(runId, 'was changed by its rating');
    if (told.kind === 'refused') say(runId, `could not be rated: ${told.code}`);
    if (told.kind !== 'done') continue;
    if (other?.kind === 'done') say(runId, 'was rated a second time, differently');
    if (rating > 2) continue;
    for (const { where } of kept.filter((one) => one.of === runId && one.serves && one.store !== 'graph'))
      say(runId, `was rated ${rating} but is kept in ${where}`);
  }
  return found;
};

/**
 * An open run is not deleted. Of a deleted run and its child runs only a tombstone is left, and no text of theirs in what is kept for later
 * questions, except where another run had taken it before; no call begins for them.
 */
export const deletions: Check = ({ world }) => {
  const { found, say } = findings('deletions');
  const { stores, observations, broker } = world;
  const kept = keptOf(world);
  for (const step of observations.begunErased) say(step, 'was begun after its run had been deleted');
  for (const { runId, wasOpen, isOpen, told } of observations.deletions) {
    if (told.kind === 'done' && wasOpen && isOpen) say(runId, 'was deleted although it was open');
    if (told.kind === 'refused' && !(told.code === 'RUN_NOT_ENDED' && (wasOpen || childIsOpen(world, runId))))
      say(runId, `could not be deleted: ${told.code}`);
    if (told.kind !== 'done') continue;
    if (!world.logged.has(`audit ${erasedId(runId)}`)) say(runId, 'was deleted without a record of it');
    const family = [...stores.runs.rows.values()].filter((row) => rootOf(row.runId) === runId);
    for (const { runId: id, header, state, erased } of family) {
      if (!erased) say(id, 'is still there');
      if (header !== null || state !== null) say(id, 'has a header or a state');
      if ((stores.stream.streams.get(id)?.entries.length ?? 0) > 0) say(id, 'has a stream');
      for (const [step] of stores.journal.entries) if (step.startsWith(`${id}/`)) say(id, `has a call in the journal: ${step}`);
      for (const { where } of kept.filter((one) => one.of === id && one.serves)) say(id, `is kept in ${where}`);
    }
    const mark = markOf(runId);
    for (const { of, where, text } of kept) {
      const isOfAnother = of !== null && rootOf(of) !== runId;
      if (!isOfAnother && marksIn(text).has(mark)) say(runId, `has a text in ${where}`);
    }
    if (told.reply.log === 'kept') continue;
    for (const topic of topics)
      for (const record of broker.records(topic))
        if (rootOf(record.headers.ce_runid ?? '') === runId && !isBlank(record) && record.headers.ce_type !== 'RunErased')
          say(runId, `has a readable record in ${topic}`);
  }
  return found;
};

const topics = ['plan.requested', 'plan.created', 'results.ready', 'run.completed', 'audit', 'dead'];

/** A deletion is refused while a child run has not ended, although its parent has. */
const childIsOpen = ({ observations }: Surroundings, runId: string): boolean =>
  observations.accepted.some(({ runId: id }) => id !== runId && rootOf(id) === runId);

/**
 * A command for a child run is answered in its stream, unless the run had ended before; it appears in no other run, and a cancelled child
 * run does not cancel its parent.
 */
export const childCommands: Check = ({ world }) => {
  const { found, say } = findings('child commands');
  const { stores, observations } = world;
  for (const id of observations.ignored) if (id.includes('~')) say(id, 'was ignored although its run was open');
  for (const { runId, actor, command, told } of observations.directed) {
    for (const row of stores.runs.rows.values()) {
      const commands = row.state ? (JSON.parse(row.state) as RunState).commands.filter((one) => one.actor === actor) : [];
      if (row.runId !== runId && commands.length > 0) say(runId, `received a command that reached ${row.runId}`);
      if (row.runId !== runId) continue;
      for (const { seq, name, status } of commands) {
        const bodies = bodiesOf(world, runId);
        const told = bodies.filter((body) => isAnswer(body, seq)).length;
        if (told !== 1) say(`${runId}/command/${seq}`, `was answered ${told} times`);
        if (status === 'accepted') say(`${runId}/command/${seq}`, 'has no outcome');
        if (name === 'cancel' && status === 'applied' && row.status !== 'cancelled') say(runId, `was cancelled but is ${row.status}`);
      }
    }
    const root = stores.runs.rows.get(rootOf(runId));
    const isCancelled = observations.clients.some(
      ({ requests, cancelled }) => cancelled && requests.some((one) => one.runId === root?.runId),
    );
    const isParked = observations.cancelsIssued.has(rootOf(runId));
    if (command === 'cancel' && told?.kind === 'done' && root?.status === 'cancelled' && !isCancelled && !isParked)
      say(root.runId, 'was cancelled although only a child run was');
  }
  return found;
};

const isAnswer = (body: StreamBody, seq: number): boolean =>
  (body.kind === 'command.applied' || body.kind === 'command.rejected') && body.seq === seq;

/** Nothing of one tenant reaches another: no text in a prompt, a run or anything that is kept, and no action on a run. */
export const tenants: Check = ({ world }) => {
  const { found, say } = findings('tenants');
  const { observations, stores } = world;
  for (const { runId, mark } of observations.leaks)
    say(runId, `showed a model a text of ${observations.tenants.get(mark) ?? 'nobody'} (${mark})`);
  for (const { what, told } of observations.strange)
    if (told.kind === 'done' || (told.kind === 'refused' && told.code !== 'RUN_NOT_FOUND'))
      say(what, `was answered to a stranger with ${told.kind === 'done' ? 'success' : told.code}`);
  const foreign = (tenant: string, text: string): string | undefined =>
    [...marksIn(text)].find((mark) => observations.tenants.get(mark) !== tenant);
  for (const { runId, state, header } of stores.runs.rows.values()) {
    const tenant = observations.tenants.get(markOf(runId));
    const mark = tenant && foreign(tenant, `${state} ${JSON.stringify(header)} ${JSON.stringify(bodiesOf(world, runId))}`);
    if (mark) say(runId, `contains ${mark} of another tenant`);
  }
  for (const { tenant, where, text } of keptOf(world)) {
    const mark = foreign(tenant, text);
    if (mark) say(where, `contains ${mark} of another tenant`);
  }
  return found;
};

function findings(check: CheckName) {
  const found: Violation[] = [];
  return { found, say: (id: string, sentence: string): void => void found.push({ check, id, sentence }) };
}
