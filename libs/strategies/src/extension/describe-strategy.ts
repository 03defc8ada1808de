import { Failure, StrategyId, type CommandName, type Draft } from '@conclave/contracts';
import type { Limits, NoPlan, Strategy, View } from '@conclave/loop';
import * as z from 'zod';
import type { AskedJudge, AskingStrategy } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { faultsOfPlan } from '../capabilities/declared.js';
import { synthesisInput, taskInput } from '../committee/context.js';
import { requestedTasks } from '../committee/experts.js';
import { currentResults, ledgerAnswer, roundSummary } from '../committee/ledger.js';
import { failureText, initialOwn, type CommitteeView } from '../committee/own.js';
import { dedupe } from '../plan-rules.js';
import { guarded } from './guarded.js';
import { knowing, orKnowing } from './knowing.js';
import { madeAs } from './made.js';
import { unknownMembers } from './members.js';
import { checkNeeds, type OwnPlan, type WrittenDraft, type WrittenMove } from './moves.js';

/** A function of a strategy that returns moves, as an extension writes it. */
type Moving<Own, Name extends 'next' | 'onPlan' | 'onResult' | 'onDecided' | 'onCommand'> = (
  ...given: Parameters<NonNullable<Strategy<Own>[Name]>>
) => readonly WrittenMove[];
type Replaced = 'id' | 'version' | 'next' | 'limits' | 'planner' | 'onPlan' | 'onResult' | 'onDecided' | 'onCommand' | 'lastAnswer';

/** What a strategy of an extension must define; the rest defaults to the committee's behaviour. */
export type StrategyDescription<Own> = Partial<Omit<AskingStrategy<Own>, Replaced>> & {
  readonly id: string;
  readonly next: Moving<Own, 'next'>;
  readonly onPlan?: Moving<Own, 'onPlan'>;
  readonly onResult?: Moving<Own, 'onResult'>;
  readonly onDecided?: Moving<Own, 'onDecided'>;
  readonly onCommand?: Moving<Own, 'onCommand'>;
  readonly limits?: Partial<Limits> | ((view: View<Own>) => Partial<Limits>);
  readonly lastAnswer?: (view: View<Own>, reason: string) => WrittenDraft | null;
  readonly planner?: Partial<Omit<Strategy<Own>['planner'], 'fallback'>> & {
    readonly fallback?: (view: View<Own>, why: NoPlan) => OwnPlan | null;
  };
};

/** The part of a state in which `writer` stores its answer. */
export interface Written {
  readonly draft?: Draft | null;
  /** Why no model wrote the answer; empty if none could be called. */
  readonly unwritten?: string | null;
}

const limits: Limits = { rounds: 1, adjusts: 0, stuck: 3, stall: 2, end: 'limit_reached' };
const members: Readonly<Record<keyof StrategyDescription<unknown>, true>> = {
  ...{ id: true, next: true, options: true, limits: true, initial: true, evolve: true, judges: true, onPlan: true, onResult: true },
  ...{ onDecided: true, onCommand: true, commands: true, task: true, planner: true, planAsk: true, lastAnswer: true, callsTools: true },
  ...{ readsNoAttachments: true, summary: true, report: true, roundName: true, announces: true, wallTimeS: true, means: true },
  ...{ delivers: true, startsRuns: true },
};
const functions = [
  ...['initial', 'evolve', 'onPlan', 'onResult', 'onDecided', 'onCommand', 'task', 'lastAnswer', 'summary', 'report', 'announces'],
  ...['wallTimeS', 'means', 'delivers', 'startsRuns'],
] as const;
const commandNames = [
  'cancel',
  'pause',
  'resume',
  'steer',
  'add_context',
  'override_step',
  'answer',
] as const satisfies readonly CommandName[];

/** The faults of a description, as phrases. A mistake that is found here does not have to be found in a run. */
function faultsOf(description: StrategyDescription<never>): readonly string[] {
  const given = description as unknown as Readonly<Record<string, unknown>>;
  const faults = unknownMembers(given, Object.keys(members));
  if (typeof given['next'] !== 'function') faults.push('has no function `next`');
  for (const name of functions)
    if (given[name] !== undefined && typeof given[name] !== 'function') faults.push(`has \`${name}\`, which is not a function`);
  const {
    options,
    commands,
    judges = {},
    planAsk,
  } = given as { options?: unknown; commands?: unknown; judges?: unknown; planAsk?: unknown };
  if (options !== undefined && typeof (options as { safeParse?: unknown } | null)?.safeParse !== 'function')
    faults.push('has `options` that are not a schema of `z`, such as z.strictObject({ looks: z.int().default(1) })');
  else if (options !== undefined && !(options as z.ZodType).safeParse({}).success)
    faults.push('has an option without a default: each one needs `.default(…)` or `.optional()`');
  if (commands !== undefined && !z.array(z.enum(commandNames)).safeParse(commands).success)
    faults.push(`has \`commands\` that are not a list of: ${commandNames.join(', ')}`);
  if (planAsk !== undefined && typeof (planAsk as { prompt?: unknown } | null)?.prompt !== 'function')
    faults.push('has a `planAsk` that was not made with `planAsk({ … })`');
  const keeps = (given['planner'] as { keeps?: unknown } | undefined)?.keeps;
  if (keeps !== undefined && !z.int().min(0).safeParse(keeps).success)
    faults.push('has a `planner` whose `keeps` is no whole number of model calls');
  if (typeof judges !== 'object' || judges === null) return [...faults, 'has `judges` that are not an object'];
  for (const [name, judge] of Object.entries(judges as Record<string, Record<string, unknown> | null>)) {
    if (name === knowing) faults.push(`has the judge "${name}", a name that is taken`);
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,23}$/.test(name))
      faults.push(`has the judge "${name}": a name has up to 24 letters, digits, "_" and "-"`);
    for (const part of ['input', 'take'])
      if (typeof judge?.[part] !== 'function') faults.push(`has the judge "${name}" without the function \`${part}\``);
    if (typeof judge?.['task'] !== 'string') faults.push(`has the judge "${name}" without \`task\`, a text for people`);
    if (typeof (judge?.['question'] as { ask?: unknown } | undefined)?.ask !== 'object')
      faults.push(`has the judge "${name}" without a \`question\` that was made with \`question({ … })\``);
  }
  return faults;
}

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
  const faults = faultsOf(description as unknown as StrategyDescription<never>);
  if (faults.length > 0) throw new Failure('CONFIGURATION_INVALID', `The strategy "${id}" ${faults.join('; it ')}.`);
  const usual: Omit<AskingStrategy<Own>, 'id' | 'next'> = {
    commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'],
    options: z.strictObject({}),
    limits: (view) => ({ ...limits, ...(typeof own === 'function' ? own(view) : own) }),
    planner: {
      ask: (view) => ({ results: currentResults(plain(view)) }),
      faults: ({ template }, { tasks, complexity }) => faultsOfPlan(tasks, template, complexity),
      ...(planner as Partial<AskingStrategy<Own>['planner']>),
    },
    judges: {},
    initial: () => ({}) as Own,
    task: (view, ref, task) => taskInput(plain(view), ref, task),
    onPlan: (view, { tasks }) => {
      // A planner of its own may have checked nothing.
      checkNeeds(tasks);
      return [{ do: 'dispatch', tasks: requestedTasks(plain(view), dedupe(tasks)) }];
    },
    lastAnswer: (view, reason) => {
      const { draft, unwritten } = (view.own ?? {}) as Written;
      const found = draft ?? ledgerAnswer(plain(view), reason, unwritten);
      return found && !draft && unwritten ? { ...found, unwritten } : found;
    },
    summary: (view, tasks) => roundSummary(plain(view), tasks),
    report: () => ({ complexity: 'moderate', review: 'none' }),
    onDecided: (_view, then) => (then === 'adjust' || then === 'ask_model' ? [{ do: 'plan' }] : []),
  };
  // The checks of `guarded` also read the short forms of moves, plans and answers.
  const strategy = guarded({ ...usual, ...rest, id, next } as unknown as AskingStrategy<Own>);
  // A strategy that writes its last answer itself decides what a run without findings ends with.
  return madeAs('strategy', rest.lastAnswer ? strategy : orKnowing(strategy));
}
