import { promptMarks, type FactOf } from '@conclave/contracts';
import { ranMs } from '../budget.js';
import { addFacts } from '../memory.js';
import type { CommandRecord, Owed, RunState } from '../state.js';
import { commandsOf, owing, type Folds } from './changes.js';

export const ofCommands: Folds<'CommandAccepted' | 'CommandQueued' | 'CommandApplied' | 'CommandRejected' | 'Paused' | 'Resumed'> = {
  CommandAccepted: (run, { seq, name, actor, at, key = null }) => ({
    ...run,
    commands: [...run.commands, { seq, name, actor, at, key, status: 'accepted', epoch: null, reason: null }],
  }),
  CommandQueued: (run, { seq, command }) => {
    const before = commandsOf(run.owed).length;
    const owed = { hook: 'command', seq, command } as unknown as Owed;
    return { ...run, owed: [...run.owed.slice(0, before), owed, ...run.owed.slice(before)] };
  },
  CommandApplied: commandApplied,
  CommandRejected: (run, { seq, reason }) => ({
    ...acknowledged(run, seq, { status: 'rejected', reason }),
    owed: run.owed.filter((owed) => owed.hook !== 'command' || owed.seq !== seq),
  }),
  Paused: (run, { until, at }) => ({ ...run, paused: { until }, ran: ranMs(run, at), since: null }),
  Resumed: (run, { at }) => ({ ...run, paused: null, since: run.question ? null : at }),
};

function acknowledged(run: RunState, seq: number, change: Partial<CommandRecord>): RunState {
  return {
    ...run,
    commands: run.commands.map((command) => (command.seq === seq ? { ...command, ...change } : command)),
  };
}

function commandApplied(before: RunState, { seq, name, epoch, text, at, evidence }: FactOf<'CommandApplied'>): RunState {
  const run = acknowledged(before, seq, { status: 'applied', epoch });
  const said = text === undefined ? [] : [{ seq, text: markOf(name) + text }];
  const userInputs = [...run.memory.userInputs, ...said].sort((a, b) => a.seq - b.seq);
  const next: RunState = { ...run, memory: { ...run.memory, userInputs } };
  if (name === 'pause' || name === 'resume') return { ...next, pauseSeq: seq };
  if (name !== 'answer') return next;
  if (evidence) return { ...next, memory: addFacts(next.memory, evidence), question: null, since: run.paused ? null : at };
  const command = { name: 'answer' as const, text: text ?? '' };
  return owing({ ...next, question: null, since: run.paused ? null : at }, { hook: 'command', seq, command });
}

const markOf = (name: string): string => (name === 'steer' || name === 'add_context' ? `${promptMarks.userInputs[name]} ` : '');
