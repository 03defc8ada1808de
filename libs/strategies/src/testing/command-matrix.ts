import type { CommandName } from '@conclave/contracts';

/** Every phase of a run, as a command finds it. `accepted`: not begun yet. */
export const phases = ['accepted', 'planning', 'collecting', 'assessing', 'composing', 'waiting', 'paused', 'done'] as const;
export type Phase = (typeof phases)[number];

export const commandNames = [
  'pause',
  'resume',
  'steer',
  'add_context',
  'override_step',
  'answer',
  'cancel',
] as const satisfies readonly CommandName[];

/**
 * The effect of a command: `now` is its second acknowledgement in the same step, null while it waits for its turn; `later` is the one that
 * follows when the run continues. A `refused` command is not accepted. `status` is that of the run right after the command.
 */
export type Cell =
  | { readonly refused: true; readonly status: string }
  | {
      readonly refused?: false;
      readonly now: 'applied' | 'rejected' | null;
      readonly later?: 'applied' | 'rejected';
      readonly reason?: string;
      readonly status: string;
    };

const applied = (status: string): Cell => ({ now: 'applied', status });
const rejected = (status: string, reason: string): Cell => ({ now: 'rejected', status, reason });
const held = (status: string): Cell => ({ now: null, later: 'applied', status });
const refused: Cell = { refused: true, status: 'completed' };

const nothingAsked = 'The run has asked nothing.';
/** Commands with the same effect in every phase that a run can be in while it works. */
const working = (status: string) => ({
  pause: applied('paused'),
  resume: applied(status),
  steer: applied(status),
  add_context: applied(status),
  override_step: applied('collecting'),
  answer: rejected(status, nothingAsked),
  cancel: applied('cancelled'),
});

/** The expected cell for each phase and command, for a strategy that accepts all of them. */
export const commandMatrix: Readonly<Record<Phase, Readonly<Record<CommandName, Cell>>>> = {
  accepted: working('planning'),
  planning: working('planning'),
  collecting: working('collecting'),
  assessing: working('assessing'),
  composing: { ...working('composing'), override_step: rejected('composing', 'The answer is being written.') },
  waiting: { ...working('waiting'), override_step: held('waiting'), answer: applied('collecting') },
  paused: { ...working('paused'), resume: applied('collecting'), override_step: held('paused') },
  done: {
    pause: refused,
    resume: refused,
    steer: refused,
    add_context: refused,
    override_step: refused,
    answer: refused,
    cancel: refused,
  },
};
