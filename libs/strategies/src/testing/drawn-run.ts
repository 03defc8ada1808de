import type { ClientToolsAsked, CommandIssued, Event, RunLimits } from '@conclave/contracts';
import { NotBegun } from '@conclave/loop';
import { oneCall, runId, type Scenario } from './scenario.js';

/** The next number of a random list, below a limit. */
export type Draw = (below: number) => number;

/** What differs between strategies under test. */
export interface Drawn {
  begin(draw: Draw): { readonly run: Scenario; readonly limits: Partial<RunLimits> };
  /** The planner's events for an epoch, to be delivered at some time; empty if it never answers. */
  plans(run: Scenario, epoch: number, draw: Draw): (() => unknown)[];
  /** Replies to an event of the engine. */
  replies(run: Scenario, event: Event, draw: Draw): (() => unknown)[];
}

/** Limits that take effect in one run of three. */
export const drawnLimits = (draw: Draw): Partial<RunLimits> =>
  draw(3) > 0
    ? {}
    : {
        ...{ model_calls: 1 + draw(16), concurrent_tasks: 1 + draw(3) },
        ...(draw(2) === 0 ? { prompt_tokens: 200 + draw(2_000) } : {}),
        ...(draw(2) === 0 ? { wall_time_s: 1 + draw(60), tokens: 140 * (2 + draw(8)) } : {}),
      };

/** Pause and resume are drawn as often as all others together: their effects are the hardest to get right. */
const commandsDrawn: readonly CommandIssued['data']['command'][] = [
  { name: 'pause' },
  { name: 'resume' },
  { name: 'pause' },
  { name: 'resume' },
  { name: 'steer', text: 'to the left' },
  { name: 'add_context', text: 'it is late' },
  { name: 'override_step', skill: 'research', input: 'what else' },
  { name: 'answer', text: 'yes' },
];

const calledTool: ClientToolsAsked = {
  ...{ model: 'm@fake', usage: oneCall, said: null },
  calls: [{ id: 'call_00000001_0', name: 'look', call: { function: { name: 'look', arguments: '{}' } } }],
};
const toolResult: CommandIssued['data']['command'] = {
  ...{ name: 'answer', text: 'Results of look.' },
  results: [{ id: 'call_00000001_0', text: 'It is there.' }],
};

/**
 * Plays planner, workers, clock and an impatient user against the engine in any order: events may be late, repeated or missing, in
 * which case the timer fires. Draws come from the given list, so that a failing case can be repeated.
 */
export function play(draws: readonly number[], { begin, plans, replies }: Drawn): Scenario {
  let at = 0;
  const draw: Draw = (below) => (draws[at++ % draws.length]! + at) % below;
  const { run, limits } = begin(draw);
  // One run in eight waits for tools of its client first.
  const more = draw(8) === 0 ? { clientTools: calledTool } : {};
  const pending: (() => unknown)[] = [() => run.requested(limits, more)];
  if ('clientTools' in more && draw(4) > 0) pending.push(() => run.command(20, toolResult));
  if (draw(20) === 0) pending.push(() => run.cancel(10 + draw(9)));
  for (const seq of [1, 2, 3, 4, 5, 6].slice(0, draw(7))) {
    const command = commandsDrawn[draw(commandsDrawn.length)]!;
    const key = draw(4) === 0 ? { key: 'the same' } : {};
    pending.push(() => run.command(seq, command, key));
  }
  let seen = 0;
  const react = (): void => {
    for (; seen < run.outputs.length; seen += 1) pending.push(...replies(run, run.outputs[seen]!, draw));
  };
  // Planner and engine receive a run at the same time.
  pending.push(...plans(run, 0, draw));
  for (let steps = 0; steps < 400 && run.completed() === undefined; steps += 1) {
    run.now += draw(300);
    if (pending.length === 0 || draw(12) === 0) fireNext(run, draw(2) === 0);
    else {
      const index = draw(pending.length);
      const event = pending[index]!;
      if (draw(6) !== 0) pending.splice(index, 1);
      give(event, pending);
    }
    react();
  }
  // Whatever is missing, the clock alone must end the run.
  if (run.state === null) run.requested(limits, more);
  for (let ticks = 0; ticks < 200 && run.completed() === undefined; ticks += 1) fireNext(run, ticks % 2 === 0);
  for (const late of pending) give(late, []);
  return run;
}

/** Delivers an event; one that came too early is redelivered later. */
function give(event: () => unknown, pending: (() => unknown)[]): void {
  try {
    event();
  } catch (error) {
    if (!(error instanceof NotBegun)) throw error;
    pending.push(event);
  }
}

/** Fires the run's next timer: a millisecond before it is due nothing changes, then it does. */
function fireNext(run: Scenario, started: boolean): void {
  const due = run.state?.due.at;
  if (typeof due !== 'number') return;
  if (run.now < due - 1 && run.probed(due - 1, { started }).length > 0) throw new Error(`the clock changes something before ${due}`);
  if (run.fired({ started })!.facts.length === 0) throw new Error(`the clock changes nothing at ${due}`);
  const next = run.state!.due.at;
  if (next !== null && next <= run.now) throw new Error(`the timer of ${due} is set to ${next} again, which is over at ${run.now}`);
}

/** Faults of an ended run: what it left undone or did twice. Throws on a second terminal event. */
export function endFaults(run: Scenario): readonly string[] {
  const end = run.completed();
  if (end === undefined || run.state === null) return ['it has not ended'];
  const { endedAt, due, tasks } = run.state;
  const ids = run.outputs.map((event) => event.id);
  const isAnswered = end['outcome'] !== 'cancelled' && end['outcome'] !== 'failed';
  const hasAnswer = typeof end['answer'] === 'string' && end['answer'] !== '';
  // The store recognises a repeated delivery, not this code: a command may be accepted twice, and wait once.
  const said = (kinds: readonly string[]): number[] =>
    run.decisions.flatMap(({ entries }) => entries.flatMap((entry) => (kinds.includes(entry.kind) && 'seq' in entry ? [entry.seq] : [])));
  const [accepted, settled] = [said(['command.accepted']), said(['command.applied', 'command.rejected'])];
  const counted = (seqs: readonly number[], seq: number): number => seqs.filter((one) => one === seq).length;
  const unsettled = [...new Set([...accepted, ...settled])].filter(
    (seq) => counted(settled, seq) === 0 || counted(settled, seq) > counted(accepted, seq),
  );
  return [
    ...unsettled.map((seq) => `command ${seq} is accepted and neither applied nor rejected, or settled too often`),
    ...(endedAt === null ? ['its state has no end'] : []),
    ...(due.at === null ? [] : [`it is due at ${due.at}`]),
    ...Object.entries(tasks).flatMap(([id, { status }]) => (status === 'settled' ? [] : [`${id} is ${status}`])),
    ...(isAnswered && !hasAnswer ? [`it is ${String(end['outcome'])} without an answer`] : []),
    ...(!isAnswered && end['answer'] !== null ? [`it is ${String(end['outcome'])} with an answer`] : []),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} went out twice`),
    ...ids.filter((id) => !id.startsWith(runId)).map((id) => `${id} is of no run`),
  ];
}
