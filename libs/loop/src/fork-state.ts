import type { FactOf } from '@conclave/contracts';
import type { RunState } from './state.js';

/**
 * The state of a fork after the facts of the other run: without its commands, with its usage so far, and the clock continues from `ranMs`.
 * A command that still waited there is not carried out here; an answer had been applied, and only its consequences are pending.
 */
export function forked(run: RunState, { of, step, at, ranMs: ran }: FactOf<'RunForked'>): RunState {
  // A cancel of the other run does not apply to this one.
  const { flaggedAt: _, ...open } = run;
  const { request, memory, spent, tasks } = open;
  // A plan that the other run gave up is paid there.
  const givenUp = open.givenUp ? { givenUp: open.givenUp.map((plan) => ({ ...plan, counted: true })) } : {};
  const settled = Object.entries(tasks).flatMap(([ref, { status }]) => (status === 'settled' ? [ref] : []));
  return {
    ...open,
    ...givenUp,
    // The state already includes those facts.
    request: request.fork ? { ...request, fork: { ...request.fork, facts: [], again: [] } } : request,
    forked: { of, step, before: spent, settled },
    ran,
    since: at,
    commands: [],
    owed: open.owed.filter((owed) => owed.hook !== 'command' || owed.command.name === 'answer'),
    pauseSeq: 0,
    memory: { ...memory, userInputs: memory.userInputs.map(({ text }) => ({ seq: 0, text })) },
  };
}
