import { describe, expect, it } from '@jest/globals';
import { isTerminal, type CommandIssued, type CommandName, type StreamBody } from '@conclave/contracts';
import { statusOf } from '@conclave/loop';
import { commandMatrix, commandNames, phases, type Phase } from './testing/command-matrix.js';
import { research, Scenario } from './testing/scenario.js';
import { stepping } from './testing/stepping.js';

type Issued = CommandIssued['data']['command'];
const commands: Readonly<Record<CommandName, Issued>> = {
  pause: { name: 'pause' },
  resume: { name: 'resume' },
  steer: { name: 'steer', text: 'only the red ones' },
  add_context: { name: 'add_context', text: 'there are two' },
  override_step: { name: 'override_step', skill: 'research', input: 'red ones in the north' },
  answer: { name: 'answer', text: 'the red one' },
  cancel: { name: 'cancel', reason: 'enough' },
};
const tested = 5;

const look = (run: Scenario, values: Record<string, unknown>): unknown => {
  const ref = Object.keys(run.state!.tasks).findLast((id) => id.includes('judge.look') && run.state!.tasks[id]!.status === 'open')!;
  return run.result(ref.split('/').at(-1)!, { output: { kind: 'values', values } });
};

/** A run in the given phase; null for one that has not begun. */
function runIn(phase: Phase): Scenario {
  const run = new Scenario({ strategy: 'stepping' }, stepping);
  if (phase === 'accepted') return run;
  run.requested();
  if (phase === 'planning') return run;
  run.planned(0, [research('r', 'first')]);
  if (phase === 'paused') run.command(1, { name: 'pause' });
  if (phase === 'collecting' || phase === 'paused') return run;
  run.found('r', 'a fact');
  if (phase === 'assessing') return run;
  look(run, phase === 'waiting' ? { question: 'Which one?' } : { enough: true });
  if (phase === 'done') run.composed('All is said.', 'judge.write');
  return run;
}

/** Drives the run to its end, as planner, workers and a user who resumes and answers would. */
function finish(run: Scenario): void {
  let seq = tested;
  for (let steps = 0; steps < 40 && run.completed() === undefined; steps += 1) {
    const { paused, question, awaiting, tasks, epoch } = run.state!;
    const open = Object.entries(tasks).find(([, { status }]) => status === 'open');
    const local = open?.[0].split('/').at(-1);
    if (paused) run.command((seq += 1), { name: 'resume' });
    else if (question) run.command((seq += 1), { name: 'answer', text: 'that one' });
    else if (awaiting) run.planned(awaiting.epoch, [research('r', `plan ${awaiting.epoch}`)]);
    else if (local?.startsWith('judge.look')) look(run, { enough: true });
    else if (local?.startsWith('judge.write')) run.composed('All is said.', local);
    else if (open) run.found(local!, `a fact of round ${epoch}, ${local}`);
  }
}

const acknowledgements = (run: Scenario, seq: number): readonly string[] =>
  run.decisions
    .flatMap(({ entries }) => entries)
    .flatMap((entry) => (entry.kind.startsWith('command.') && 'seq' in entry && entry.seq === seq ? [entry.kind.slice(8)] : []));

describe.each(phases)('a run that is %s', (phase) => {
  it.each(commandNames)('and gets %s acknowledges it twice, and continues as the matrix says', (name) => {
    const cell = commandMatrix[phase][name];
    expect(cell).toBeDefined();
    const run = runIn(phase);
    const before = phase === 'accepted' ? run.request() : null;
    if (phase !== 'accepted') expect(statusOf(run.state!)).toBe(phase === 'done' ? 'completed' : phase);
    const decision = run.command(tested, commands[name], { request: before });
    if (cell.refused) {
      expect(decision).toBeNull();
      expect(statusOf(run.state!)).toBe(cell.status);
      return;
    }
    expect(acknowledgements(run, tested)).toEqual(['accepted', ...(cell.now ? [cell.now] : [])]);
    expect(run.state!.commands.at(-1)).toMatchObject({
      seq: tested,
      name,
      actor: 'me',
      status: cell.now ?? 'accepted',
      ...(cell.reason ? { reason: cell.reason } : {}),
    });
    expect(statusOf(run.state!)).toBe(cell.status);
    // The clock of a run stops while it is paused or waits.
    if (name !== 'cancel') expect(run.state!.since === null).toBe(['paused', 'waiting'].includes(cell.status));
    finish(run);
    expect(run.completed()).toMatchObject({ outcome: name === 'cancel' ? 'cancelled' : 'completed' });
    expect(acknowledgements(run, tested)).toEqual(['accepted', cell.now ?? cell.later]);
    expect(isTerminal(run.decisions.at(-1)!.entries.at(-1) as StreamBody)).toBe(true);
  });
});

describe('a command', () => {
  it('that waits for its turn is rejected if the run ends first', () => {
    const run = runIn('paused');
    run.command(2, commands.override_step);
    run.cancel(3);
    expect(acknowledgements(run, 2)).toEqual(['accepted', 'rejected']);
    expect(run.state!.commands).toMatchObject([{ seq: 1 }, { seq: 2, reason: 'The run ended before its turn.' }, { status: 'applied' }]);
  });

  it('that is repeated with its key takes effect once', () => {
    const run = runIn('collecting');
    run.command(1, commands.steer, { key: 'k' });
    run.command(2, commands.steer, { key: 'k' });
    expect([acknowledgements(run, 1), acknowledgements(run, 2)]).toEqual([
      ['accepted', 'applied'],
      ['accepted', 'rejected'],
    ]);
    expect(run.state!.commands[1]!.reason).toBe('It repeats command 1.');
    expect(run.state!.memory.userInputs).toHaveLength(1);
  });

  it('that answers is acknowledged once, even if the time is up when its turn comes', () => {
    const run = runIn('waiting');
    run.command(1, commands.pause);
    run.command(2, commands.answer);
    run.command(3, commands.resume);
    finish(run);
    expect(acknowledgements(run, 2)).toEqual(['accepted', 'applied']);
  });

  it('of the user reaches every prompt from then on, and stays in memory with its mark', () => {
    const run = runIn('planning');
    run.command(1, commands.steer);
    run.command(2, commands.add_context);
    const said = ['[USER GUIDANCE] only the red ones', '[USER CONTEXT] there are two'];
    expect(run.state!.memory.userInputs.map(({ text }) => text)).toEqual(said);
    run.planned(0, [research('r', 'first')]);
    run.found('r', 'a fact');
    look(run, {});
    const sent = run.outputs.map((event) => ({ id: event.id, data: event.data as Record<string, unknown> }));
    // A search has no prompt.
    expect(sent.find(({ id }) => id.endsWith('/r'))!.data).not.toHaveProperty('userInputs');
    expect(sent.find(({ id }) => id.endsWith('judge.look'))!.data).toMatchObject({ userInputs: said });
    expect(sent.at(-1)!.data).toMatchObject({ memory: { userInputs: said.map((text) => ({ text })) } });
  });

  it('keeps the answer out of the caches: the next question is asked without it', () => {
    const run = new Scenario({ strategy: 'stepping' }, stepping);
    const caching = { exact: 'a', scope: 'b', plan: null };
    run.requested({}, { caching });
    run.command(1, commands.steer);
    finish(run);
    expect(run.completed()).toMatchObject({ outcome: 'completed', caching: null });
  });
});
