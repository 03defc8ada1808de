import {
  Failure,
  StrategyId,
  type CommandName,
  type Draft,
  type ResultReady,
  type TaskInputDraft,
  type TaskOutput,
} from '@conclave/contracts';
import type { Limits, NoPlan, Strategy, TaskState, Verdict, View } from '@conclave/loop';
import * as z from 'zod';
import type { AnyQuestion, AskingStrategy } from '../asks/asked-judge.js';
import { faultsOf as faultsOfValue } from '../asks/json-form.js';
import { synthesisQuestion } from '../asks/questions.js';
import { faultsOfPlan } from '../capabilities/declared.js';
import { synthesisInput, taskInput } from '../committee/context.js';
import { requestedTasks } from '../committee/experts.js';
import { currentResults, ledgerAnswer, roundSummary } from '../committee/ledger.js';
import { failureText, initialOwn, type CommitteeView } from '../committee/own.js';
import { dedupe } from '../plan-rules.js';
import { guarded, LimitsShape } from './guarded.js';
import { knowing, orKnowing } from './knowing.js';
import { madeAs } from './made.js';
import { unknownMembers } from './members.js';
import { checkNeeds, type OwnPlan, type WrittenDraft, type WrittenMove } from './moves.js';

/** A view of a run as an extension sees it: its template has the options that the strategy describes. */
type Seen<Own, Options> = Omit<View<Own>, 'template'> & {
  readonly template: Omit<View['template'], 'options'> & { readonly options: Options };
};
/** A function of a strategy, whose views have its options. */
type SeeingOptions<F, Options> = F extends (...given: infer Given) => infer Result
  ? (...given: { [At in keyof Given]: Given[At] extends View<infer Own> ? Seen<Own, Options> : Given[At] }) => Result
  : F;
type Members<All, Options> = { readonly [Name in keyof All]?: SeeingOptions<NonNullable<All[Name]>, Options> };

type Values = Extract<TaskOutput, { kind: 'values' }>;
/** How a judge of an extension ended. `values` is what `read` of its question returned as `output`. */
export type WrittenVerdict =
  | { readonly result: Omit<ResultReady['data'], 'output'> & { readonly output: Values | null }; readonly why: null }
  | Extract<Verdict, { readonly result: null }>;
/** A judge as an extension writes it. */
export interface WrittenJudge<Own, Options> {
  readonly task: string;
  readonly question: AnyQuestion;
  input(view: Seen<Own, Options>, ref: string): TaskInputDraft;
  take(own: Own, verdict: WrittenVerdict, view: Seen<Own, Options>, ref: string): Own;
}

type Moving = 'next' | 'onPlan' | 'onResult' | 'onDecided' | 'onCommand';
/** A function of a strategy that returns moves, as an extension writes it. */
type WrittenMoving<Own> = {
  readonly [Name in Moving]: (...given: Parameters<NonNullable<Strategy<Own>[Name]>>) => readonly WrittenMove[];
};
type Replaced = 'id' | 'version' | 'planTakes' | 'options' | 'limits' | 'planner' | 'judges' | 'task' | 'lastAnswer' | Moving;

/** What a strategy of an extension must define; the rest defaults to the committee's behaviour. */
export type StrategyDescription<Own, Options = Readonly<Record<string, unknown>>> = Members<
  Omit<AskingStrategy<Own>, Replaced> & Omit<WrittenMoving<Own>, 'next'>,
  Options
> & {
  readonly id: string;
  readonly next: (view: Seen<Own, Options>) => readonly WrittenMove[];
  readonly options?: z.ZodType<Options>;
  readonly limits?: Partial<Limits> | ((view: Seen<Own, Options>) => Partial<Limits>);
  readonly judges?: Readonly<Record<string, WrittenJudge<Own, Options>>>;
  /** What differs from the usual input of a task. */
  readonly task?: (view: Seen<Own, Options>, ref: string, task: TaskState) => Readonly<Record<string, unknown>>;
  readonly lastAnswer?: (view: Seen<Own, Options>, reason: string) => WrittenDraft | null;
  readonly planner?: Members<Omit<Strategy<Own>['planner'], 'fallback'>, Options> & {
    readonly fallback?: (view: Seen<Own, Options>, why: NoPlan) => OwnPlan | null;
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
  faults.push(...faultsOfPlanner(given['planner'] ?? {}), ...faultsOfLimits(given['limits'] ?? {}));
  if (typeof judges !== 'object' || judges === null) return [...faults, 'has `judges` that are not an object'];
  for (const [name, judge] of Object.entries(judges as Record<string, Record<string, unknown> | null>)) {
    if (name === knowing) faults.push(`has the judge "${name}", a name that is taken`);
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,23}$/.test(name))
      faults.push(`has the judge "${name}": a name has up to 24 letters, digits, "_" and "-"`);
    if (typeof judge === 'object')
      faults.push(...unknownMembers(judge ?? {}, ['task', 'question', 'input', 'take'], `has the judge "${name}" with`));
    for (const part of ['input', 'take'])
      if (typeof judge?.[part] !== 'function') faults.push(`has the judge "${name}" without the function \`${part}\``);
    if (typeof judge?.['task'] !== 'string') faults.push(`has the judge "${name}" without \`task\`, a text for people`);
    if (typeof (judge?.['question'] as { ask?: unknown } | undefined)?.ask !== 'object')
      faults.push(`has the judge "${name}" without a \`question\` that was made with \`question({ … })\``);
  }
  return faults;
}

function faultsOfPlanner(planner: unknown): readonly string[] {
  if (typeof planner !== 'object' || planner === null) return ['has a `planner` that is no object'];
  const { keeps, ...made } = planner as Readonly<Record<string, unknown>>;
  const faults = unknownMembers(planner, ['ask', 'faults', 'fallback', 'keeps'], 'has a `planner` with');
  for (const [name, value] of Object.entries(made))
    if (value !== undefined && typeof value !== 'function') faults.push(`has a \`planner\` whose \`${name}\` is not a function`);
  if (keeps !== undefined && !z.int().min(0).safeParse(keeps).success)
    faults.push('has a `planner` whose `keeps` is no whole number of model calls');
  return faults;
}

/** Limits that do not depend on the run are checked before there is one. */
function faultsOfLimits(given: unknown): readonly string[] {
  if (typeof given === 'function') return [];
  const read = LimitsShape.partial().safeParse(given);
  return read.success ? [] : [`has wrong \`limits\`: ${faultsOfValue(read.error).join(' ').replace(/\.$/, '')}`];
}

/** A view of the run for the committee, with an initial own state. */
const plain = (view: View<never> | View): CommitteeView => ({ ...view, own: initialOwn });

/** Writes the answer from all facts and expert answers of the run; stores it as `draft`, or why there is none as `unwritten`. */
export const writer = {
  question: synthesisQuestion as AnyQuestion,
  task: 'Write the answer',
  input: (view: View): TaskInputDraft =>
    synthesisInput(plain(view), view.run.ending && view.run.ending.outcome !== 'completed' ? view.run.gap || null : null),
  take: <Own extends Written>(own: Own, verdict: Verdict, { run }: Pick<View, 'run'>, ref: string): Own => {
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
export function describeStrategy<Own, Options = Readonly<Record<string, unknown>>>(
  description: StrategyDescription<Own, Options>,
): AskingStrategy<Own> {
  const { id, next, limits: own, planner, ...rest } = description;
  if (!StrategyId.safeParse(id).success)
    throw new Failure('CONFIGURATION_INVALID', `A strategy needs an id of small letters, digits and "-", not ${JSON.stringify(id)}.`);
  const faults = faultsOf(description as unknown as StrategyDescription<never>);
  if (faults.length > 0) throw new Failure('CONFIGURATION_INVALID', `The strategy "${id}" ${faults.join('; it ')}.`);
  const usualTask: AskingStrategy<Own>['task'] = (view, ref, task) => taskInput(plain(view), ref, task);
  const usual: Omit<AskingStrategy<Own>, 'id' | 'next'> = {
    commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'],
    options: z.strictObject({}),
    limits: (view) => ({ ...limits, ...(typeof own === 'function' ? own(view as never) : own) }),
    planner: {
      ask: (view) => ({ results: currentResults(plain(view)) }),
      faults: ({ template }, { tasks, complexity }) => faultsOfPlan(tasks, template, complexity),
      ...(planner as Partial<AskingStrategy<Own>['planner']>),
    },
    judges: {},
    initial: () => ({}) as Own,
    task: usualTask,
    onPlan: (view, { tasks }) => {
      if (tasks.length === 0)
        throw new Error('The plan has no task. Give it at least one, or define `onPlan`, which then says what follows the plan.');
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
  const strategy = guarded({ ...usual, ...rest, id, next } as unknown as AskingStrategy<Own>, usualTask);
  // A strategy that writes its last answer itself decides what a run without findings ends with.
  return madeAs('strategy', rest.lastAnswer ? strategy : orKnowing(strategy));
}
