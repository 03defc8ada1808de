import type { Move } from '@conclave/loop';
import type { AskedJudge } from '../asks/asked-judge.js';
import { requestedTasks } from '../committee/experts.js';
import { initialOwn } from '../committee/own.js';
import { describeQuestion } from '../extension/describe-question.js';
import { describeStrategy, writer, type Written } from '../extension/describe-strategy.js';
import { research } from './scenario.js';

interface Own extends Written {
  /** The judge's verdict on the last round; null before it. */
  readonly seen: { readonly enough: boolean; readonly question: string | null } | null;
}

const look: AskedJudge<Own> = {
  task: 'Look whether it is enough',
  question: describeQuestion({ name: 'look', prompt: () => [], read: ({ json }) => ({ output: json as Record<string, unknown> }) }),
  input: () => ({ kind: 'values', values: {} }),
  take: (own, { result }) => {
    const values = result?.output?.kind === 'values' ? result.output.values : {};
    return { ...own, seen: { enough: values['enough'] === true, question: (values['question'] as string | undefined) ?? null } };
  },
};

const step = (view: Parameters<typeof requestedTasks>[0], id: string, query: string): Move => ({
  do: 'dispatch',
  tasks: requestedTasks(view, [research(id, query)]),
});

/** A strategy that accepts every command: rounds of steps, each judged, with questions to the user. */
export const stepping = describeStrategy<Own>({
  id: 'stepping',
  commands: ['cancel', 'pause', 'resume', 'steer', 'add_context', 'override_step', 'answer'],
  limits: { rounds: 9, adjusts: 5, stall: null, asks: true },
  initial: () => ({ draft: null, unwritten: null, seen: null }),
  judges: { look, write: writer as unknown as AskedJudge<Own> },
  evolve: (own, fact) => (fact.kind === 'RoundClosed' || fact.kind === 'PlanTaken' ? { ...own, seen: null } : own),
  next: ({ run, own }) => {
    if (run.ending) {
      if (own.draft) return [{ do: 'say', draft: own.draft }];
      return own.unwritten === null ? [{ do: 'judge', name: 'write', from: 'reserve', composes: true }] : [];
    }
    if (run.plan === null && run.round === null) return [{ do: 'plan' }];
    if (own.seen === null) return [{ do: 'judge', name: 'look' }];
    const { enough, question } = own.seen;
    if (question) return [{ do: 'decide', reading: { by: 'assessment', question } }];
    return [{ do: 'decide', reading: { by: 'assessment', sufficient: enough, ...(enough ? {} : { open: 'more' }) } }];
  },
  onDecided: (_view, then) => [then === 'ask_user' ? { do: 'ask', question: 'Which one?' } : { do: 'plan' }],
  onCommand: (view, command) => {
    const plain = { ...view, own: initialOwn };
    if (command.name === 'answer') return [step(plain, `answered-${view.run.rounds}`, `with the answer ${command.text}`)];
    if (command.name !== 'override_step') return [{ do: 'reject', reason: 'It is not a step.' }];
    const n = view.run.commands.length;
    return [{ do: 'cancel', what: 'plan' }, { do: 'cancel', what: 'open' }, step(plain, `own-${n}`, command.input)];
  },
});
