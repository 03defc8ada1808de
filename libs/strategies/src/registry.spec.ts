import { describe, expect, it } from '@jest/globals';
import { CommandIssued, commandId, makeEvent, type PlanRequested, type StreamBody } from '@conclave/contracts';
import { step, type RunState } from '@conclave/loop';
import { commandsOf, strategies, strategyOf } from './registry.js';
import { template } from './testing/scenario.js';

const runId = 'run_00000001';

/** State of a run of the strategy that awaits its first plan. */
function begun(strategy: string): RunState {
  const used = template({ strategy, capabilities: ['research'] });
  const caller = { tenant: 'default', actor: 'me' };
  const data = {
    goal: 'What?',
    conversation: [],
    system: null,
    template: used,
    limits: used.limits,
    caller,
    answer: {},
    origin: 'runs',
    requestedAt: 1,
  };
  const request = { type: 'PlanRequested', id: runId, runId, time: 1, data } as unknown as PlanRequested;
  return step(null, request, 1, strategyOf)!.next;
}

const commands: readonly CommandIssued['data']['command'][] = [
  { name: 'cancel', reason: 'why' },
  { name: 'pause' },
  { name: 'resume' },
  { name: 'steer', text: 'left' },
  { name: 'add_context', text: 'fact' },
  { name: 'override_step', skill: 'research', input: 'x' },
  { name: 'answer', text: 'yes' },
];

describe('the commands that a strategy declares', () => {
  it.each(strategies().flatMap(({ id }) => commands.map((command) => [id, command.name, command] as const)))(
    'are those that the engine accepts: %s, %s',
    (strategy, name, command) => {
      const event = makeEvent(
        CommandIssued,
        { id: commandId(runId, 1), runId, source: 'gateway', time: 2 },
        { seq: 1, actor: 'me', issuedAt: 2, command },
      );
      const { entries } = step(begun(strategy), event, 2, strategyOf)!;
      const isTaken = (commandsOf(strategy) as readonly string[]).includes(name);
      const about = entries.filter(({ kind }: Pick<StreamBody, 'kind'>) => kind.startsWith('command.'));
      // A command that the strategy accepts may still be refused because of the state, such as an answer to a question that was never
      // asked.
      const isRefused = JSON.stringify(about).includes('does not take this command');
      expect([about.length, isRefused]).toEqual([2, !isTaken]);
    },
  );

  it('are only `cancel` for a strategy that this version does not have', () => {
    expect(commandsOf('no-such-strategy')).toEqual(['cancel']);
  });
});
