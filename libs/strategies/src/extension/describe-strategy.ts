import { Failure, StrategyId, type Draft } from '@conclave/contracts';
import { dedupe, type Limits, type Strategy, type View } from '@conclave/loop';
import * as z from 'zod';
import type { AskedJudge, AskingStrategy } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { faultsOfPlan } from '../capabilities/declared.js';
import { synthesisInput, taskInput } from '../committee/context.js';
import { wishesOf } from '../committee/experts.js';
import { currentResults, ledgerAnswer, roundSummary } from '../committee/ledger.js';
import { failureText, initialOwn, type CommitteeView } from '../committee/own.js';

/** What a strategy of an extension has to say; for the rest there are the ways of the committee. */
export type StrategyDescription<Own> = Pick<Strategy<Own>, 'id' | 'next'> &
  Partial<Omit<AskingStrategy<Own>, 'id' | 'next' | 'limits' | 'planner'>> & {
    readonly limits?: Partial<Limits> | ((view: View<Own>) => Partial<Limits>);
    readonly planner?: Partial<Strategy<Own>['planner']>;
  };

/** A part of the state that `writer` keeps its answer in. */
export interface Written {
  readonly draft?: Draft | null;
  /** Why no model wrote the answer; empty where none could be asked. */
  readonly unwritten?: string | null;
}

const limits: Limits = { rounds: 1, adjusts: 0, stuck: 3, stall: 2, end: 'limit_reached' };
/** The run as the committee sees one of which it knows nothing of its own. */
const plain = (view: View<never> | View): CommitteeView => ({ ...view, own: initialOwn });

/** Writes the answer from every fact and expert answer of the run, and keeps it as `draft`; as `unwritten` why there is none. */
export const writer: AskedJudge<Written> = {
  question: synthesisQuestion,
  task: 'Write the answer',
  input: (view) => synthesisInput(plain(view), view.run.ending && view.run.ending.outcome !== 'completed' ? view.run.gap || null : null),
  take: (own, verdict, { run }, ref) => {
    const { result } = verdict;
    if (result?.output?.kind !== 'synthesis') {
      const unwritten = verdict.why === null || verdict.why === 'budget' ? '' : failureText(verdict.failure);
      return { ...own, unwritten };
    }
    const { text, insight, cutShort } = result.output;
    return { ...own, draft: { text, sources: result.sources, insight, cutShort, epoch: run.tasks[ref]!.epoch } };
  },
};

/**
 * A strategy out of what it says itself. Without more it has the committee's planner, one round, tasks as the committee makes them, and at
 * the end the `draft` of its own part of the state, or what was found.
 * Throws Failure CONFIGURATION_INVALID where something it needs is missing.
 */
export function describeStrategy<Own>(description: StrategyDescription<Own>): AskingStrategy<Own> {
  const { id, next, limits: own, planner, ...rest } = description;
  if (!StrategyId.safeParse(id).success)
    throw new Failure('CONFIGURATION_INVALID', `A strategy needs an id of small letters, digits and "-", not ${JSON.stringify(id)}.`);
  if (typeof next !== 'function') throw new Failure('CONFIGURATION_INVALID', `The strategy "${id}" has no function \`next\`.`);
  return {
    id,
    next,
    commands: ['cancel', 'pause', 'resume'],
    options: z.strictObject({}),
    limits: (view) => ({ ...limits, ...(typeof own === 'function' ? own(view) : own) }),
    planner: {
      ask: (view) => ({ results: currentResults(plain(view)) }),
      faults: ({ template }, { tasks, complexity }) => faultsOfPlan(tasks, template, complexity),
      ...planner,
    },
    judges: {},
    initial: () => ({}) as Own,
    task: (view, ref, task) => taskInput(plain(view), ref, task),
    onPlan: (view, plan) => [{ do: 'dispatch', tasks: wishesOf(plain(view), dedupe(plan.tasks)) }],
    lastAnswer: (view, reason) => (view.own as Written | null)?.draft ?? ledgerAnswer(plain(view), reason),
    summary: (view, tasks) => roundSummary(plain(view), tasks),
    report: () => ({ complexity: 'moderate', review: 'none' }),
    ...rest,
  };
}
