import { Failure, StrategyId, type Draft } from '@conclave/contracts';
import { dedupe, type Limits, type Strategy, type View } from '@conclave/loop';
import * as z from 'zod';
import type { AskedJudge, AskingStrategy } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { faultsOfPlan } from '../capabilities/declared.js';
import { synthesisInput, taskInput } from '../committee/context.js';
import { requestedTasks } from '../committee/experts.js';
import { currentResults, ledgerAnswer, roundSummary } from '../committee/ledger.js';
import { failureText, initialOwn, type CommitteeView } from '../committee/own.js';

/** What a strategy of an extension must define; the rest defaults to the committee's behaviour. */
export type StrategyDescription<Own> = Pick<Strategy<Own>, 'id' | 'next'> &
  Partial<Omit<AskingStrategy<Own>, 'id' | 'next' | 'limits' | 'planner'>> & {
    readonly limits?: Partial<Limits> | ((view: View<Own>) => Partial<Limits>);
    readonly planner?: Partial<Strategy<Own>['planner']>;
  };

/** The part of a state in which `writer` stores its answer. */
export interface Written {
  readonly draft?: Draft | null;
  /** Why no model wrote the answer; empty if none could be called. */
  readonly unwritten?: string | null;
}

const limits: Limits = { rounds: 1, adjusts: 0, stuck: 3, stall: 2, end: 'limit_reached' };
/** A view of the run for the committee, with an initial own state. */
const plain = (view: View<never> | View): CommitteeView => ({ ...view, own: initialOwn });

/** Writes the answer from all facts and expert answers of the run; stores it as `draft`, or why there is none as `unwritten`. */
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
 * Builds a strategy from its description. Defaults: the committee's planner and tasks, one round, and as the answer the `draft` of its
 * own state or else the findings. Throws CONFIGURATION_INVALID if something required is missing.
 */
export function describeStrategy<Own>(description: StrategyDescription<Own>): AskingStrategy<Own> {
  const { id, next, limits: own, planner, ...rest } = description;
  if (!StrategyId.safeParse(id).success)
    throw new Failure('CONFIGURATION_INVALID', `A strategy needs an id of small letters, digits and "-", not ${JSON.stringify(id)}.`);
  if (typeof next !== 'function') throw new Failure('CONFIGURATION_INVALID', `The strategy "${id}" has no function \`next\`.`);
  return {
    id,
    next,
    commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'],
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
    onPlan: (view, plan) => [{ do: 'dispatch', tasks: requestedTasks(plain(view), dedupe(plan.tasks)) }],
    lastAnswer: (view, reason) => (view.own as Written | null)?.draft ?? ledgerAnswer(plain(view), reason),
    summary: (view, tasks) => roundSummary(plain(view), tasks),
    report: () => ({ complexity: 'moderate', review: 'none' }),
    ...rest,
  };
}
