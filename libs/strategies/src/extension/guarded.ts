import { Complexity, Review, RunView, type TaskInputDraft } from '@conclave/contracts';
import {
  runCapability,
  StrategyFault,
  type Limits,
  type Move,
  type RunState,
  type Strategy,
  type TaskState,
  type View,
} from '@conclave/loop';
import * as z from 'zod';
import { faultsOf } from '../asks/json-form.js';
import type { AskedJudge, AskingStrategy } from '../asks/asked-judge.js';
import { inputOf } from '../asks/task-schemas.js';
import { languageAsked } from '../prompts/as-asked.js';
import { blame } from './blame.js';
import { callsOfModule } from './bounded.js';
import { frozen, jsonFault, kindOf } from './json-values.js';
import { readMoves, readPlan, writtenDraft } from './moves.js';

export const LimitsShape = z.strictObject({
  rounds: z.int().min(1),
  adjusts: z.int().min(0),
  stuck: z.int().min(1),
  stall: z.int().min(1).nullable(),
  end: z.enum(['completed', 'limit_reached']),
  asks: z.boolean().optional(),
  threshold: z.number().min(0).max(1).optional(),
});
const Summary = z.object({ planSummary: z.string(), findings: z.string() });
const ReportShape = z.object({
  complexity: Complexity.default('moderate'),
  review: Review.default('none'),
  unique: z.boolean().optional(),
  results: z.array(z.object({ id: z.string(), text: z.string() })).optional(),
  steps: RunView.shape.steps.unwrap().unwrap().optional(),
});
const PlannerInput = z.object({ results: z.array(z.unknown()).optional(), asked: z.record(z.string(), z.unknown()).optional() });

/**
 * Wraps the strategy of an extension, which is not trusted: an exception, or a return value that is not allowed, becomes a StrategyFault
 * that names the function. The functions get a frozen run, because a run that is changed without a fact cannot be replayed. `usualTask`
 * makes the input of a task of which the strategy gives only some members.
 */
export function guarded<Own>(strategy: AskingStrategy<Own>, usualTask: Strategy<Own>['task']): AskingStrategy<Own> {
  const { id } = strategy;
  const judgeNames = Object.keys(strategy.judges);
  const { call: bounded, file } = callsOfModule();
  /** A sentence with the file of the strategy, which only errors with a line name by themselves. */
  const named = (why: string): string => (file === null || why.includes(file) ? why : `${why.replace(/\.$/, '')} (${file}).`);
  /** Calls a function of the strategy and reads what it returns; `read` throws a sentence for anything wrong. */
  const called = <T>(where: string, call: () => unknown, read: (given: unknown) => T): T => {
    let given: unknown;
    try {
      given = bounded(`${where} of the strategy "${id}"`, call);
    } catch (error) {
      throw new StrategyFault(id, where, named(blame(error)), error);
    }
    try {
      return read(given);
    } catch (error) {
      throw new StrategyFault(id, where, named((error as Error).message), error);
    }
  };
  const seen = <V extends View<never> | View<Own>>(view: V): V => ({
    ...view,
    run: frozen(view.run),
    own: frozen(view.own),
    template: frozen(view.template),
  });
  const readOwn = (given: unknown): Own => {
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw new Error(`It returned ${kindOf(given)}, not the strategy's part of the state, which is an object.`);
    const fault = jsonFault(given, 'own');
    if (fault) throw new Error(`The state has to be JSON so that a run can be stored and replayed, but ${fault}.`);
    return given as Own;
  };
  const moves = (where: string, view: View<Own>, call: (view: View<Own>) => unknown): readonly Move[] =>
    called(
      where,
      () => call(seen(view)),
      (given) => readMoves(given, view, judgeNames),
    );
  const parsed =
    <T>(schema: z.ZodType<T>, what: string) =>
    (given: unknown): T => {
      const read = schema.safeParse(given);
      if (!read.success) throw new Error(`It returned ${kindOf(given)} that is no ${what}: ${faultsOf(read.error).join(' ')}`);
      return read.data;
    };

  const judges = Object.fromEntries(
    Object.entries<AskedJudge<Own>>(strategy.judges).map(([name, judge]): [string, AskedJudge<Own>] => [
      name,
      {
        ...judge,
        input: (view, ref) =>
          called(
            `judges.${name}.input`,
            () => judge.input(seen(view), ref),
            (given) => {
              const read = judge.question.ask.input.safeParse(given);
              if (!read.success)
                throw new Error(
                  `It returned ${kindOf(given)} that is no input of its question, such as { kind: 'values', values: {…} }: ${faultsOf(read.error).join(' ')}`,
                );
              const fault = jsonFault(given, 'input');
              if (fault) throw new Error(`The input of a question has to be JSON, but ${fault}.`);
              return given as ReturnType<AskedJudge<Own>['input']>;
            },
          ),
        take: (own, verdict, view, ref) =>
          called(`judges.${name}.take`, () => judge.take(frozen(own), frozen(verdict), seen(view), ref), readOwn),
      },
    ]),
  );
  const { planner, evolve, onResult, onDecided, onCommand, announces, wallTimeS } = strategy;
  return {
    ...strategy,
    judges,
    limits: (view) => called('limits', () => strategy.limits(seen(view)), parsed<Limits>(LimitsShape as z.ZodType<Limits>, 'limits')),
    initial: (view) => called('initial', () => strategy.initial(seen(view as View<never>)), readOwn),
    next: (view) => moves('next', view, strategy.next),
    onPlan: (view, plan) => moves('onPlan', view, (shown) => strategy.onPlan(shown, frozen(plan))),
    task: (view, ref, task) =>
      called(
        'task',
        () => strategy.task(seen(view), ref, task),
        (given) =>
          strategy.task === usualTask && task.spec.capability !== runCapability
            ? (given as TaskInputDraft)
            : inputOfTask(given, task, view, () => usualTask(seen(view), ref, task)),
      ),
    planner: {
      ...(planner.keeps === undefined ? {} : { keeps: planner.keeps }),
      ask: (view, why) =>
        called(
          'planner.ask',
          () => planner.ask(seen(view), why),
          parsed(PlannerInput as z.ZodType<ReturnType<typeof planner.ask>>, 'input of a planner, such as { asked: {…} }'),
        ),
      faults: (view, plan) =>
        called('planner.faults', () => planner.faults(seen(view), frozen(plan)), parsed(z.array(z.string()), 'list of sentences')),
      ...(planner.fallback
        ? {
            fallback: (view, why) =>
              called(
                'planner.fallback',
                () => planner.fallback!(seen(view), why),
                (given) => (given === null || given === undefined ? null : readPlan(given, view)),
              ),
          }
        : {}),
    },
    lastAnswer: (view, reason) =>
      called(
        'lastAnswer',
        () => strategy.lastAnswer(seen(view), reason),
        (given) => (given === null || given === undefined ? null : parsed(writtenDraft(view.run.epoch), 'answer')(given)),
      ),
    summary: (view, tasks) => called('summary', () => strategy.summary(seen(view), tasks), parsed(Summary, 'summary')),
    report: (view) =>
      called(
        'report',
        () => strategy.report(seen(view)),
        (given) => parsed(ReportShape, 'report')(given) as ReturnType<typeof strategy.report>,
      ),
    ...(evolve
      ? {
          evolve: (own, fact, view) =>
            called(
              'evolve',
              () => evolve(frozen(own), frozen(fact), seen(view)),
              (given) => (given === own ? own : readOwn(given)),
            ),
        }
      : {}),
    ...(onResult ? { onResult: (view, ref, task) => moves('onResult', view, (shown) => onResult(shown, ref, task) ?? []) } : {}),
    ...(onDecided ? { onDecided: (view, then) => moves('onDecided', view, (shown) => onDecided(shown, then) ?? []) } : {}),
    ...(onCommand
      ? { onCommand: (view, command) => moves('onCommand', view, (shown) => onCommand(shown, plainCommand(command)) ?? []) }
      : {}),
    ...(announces
      ? { announces: (plan) => called('announces', () => announces(frozen(plan)), parsed(z.string().optional(), 'text')) }
      : {}),
    ...(wallTimeS
      ? { wallTimeS: (view) => called('wallTimeS', () => wallTimeS(seen(view)), parsed(z.number().positive(), 'number of seconds')) }
      : {}),
  };
}

/** A command that says so if its name is looked for where the API has it: it would be undefined, and the command do nothing. */
function plainCommand<C extends { readonly name: string }>(command: C): C {
  const refuse = (): never => {
    throw new Error('A command has no member `command`: its name is `command.name`, and its text `command.text`.');
  };
  return Object.freeze(Object.defineProperty({ ...frozen(command) }, 'command', { get: refuse }));
}

/** The input of a task, of which an extension gives the members that differ from the usual one. Throws a sentence for its author. */
function inputOfTask(given: unknown, { spec }: TaskState, { run }: View, usual: () => TaskInputDraft): TaskInputDraft {
  const { id, capability } = spec;
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof Promise)
    throw new Error(`It returned ${kindOf(given)}, not the input of a task, which is an object.`);
  const { kind } = given as { kind?: unknown };
  const isRun = capability === runCapability;
  const whole = isRun ? inputOfRun(spec.task, run.request) : usual();
  if (kind !== undefined && kind !== whole.kind)
    throw new Error(
      `It returned an input of the kind "${String(kind)}" for the capability "${capability}", whose inputs are "${whole.kind}"${isRun ? ': return { template: run.request.children[…] }' : ''}.`,
    );
  const schema = inputOf(whole.kind!);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(schema.shape, name));
  if (unknown !== undefined)
    throw new Error(
      `It returned an input with the member \`${unknown}\`, which no task "${capability}" has; there are: ${Object.keys(schema.shape).join(', ')}.`,
    );
  // A worker would fail on any other input, again and again.
  const input = { ...whole, ...given } as TaskInputDraft;
  const read = schema.safeParse(input);
  if (!read.success) throw new Error(`It returned a wrong input of the task "${id}": ${faultsOf(read.error).join(' ')}`);
  const fault = jsonFault(given, 'input');
  if (fault) throw new Error(`The input of a task has to be JSON, but ${fault}.`);
  return input;
}

/** What a child run gets from its parent; the strategy only chooses its template. */
const inputOfRun = (goal: string, request: RunState['request']): Partial<TaskInputDraft> => ({
  kind: runCapability,
  goal,
  children: request.children ?? {},
  limits: request.limits,
  caller: request.caller,
  ...languageAsked(request),
});
