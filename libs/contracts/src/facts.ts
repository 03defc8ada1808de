import * as z from 'zod';
import { bounded, counted, defineFact, local, shownText, type AskedTasks, type FactSpec } from './define-fact.js';
import { PlanCreated, PlanRequested } from './events/plan.js';
import { Allowance, ResultReady } from './events/task.js';
import { Draft, Ending, Reading, RefusedWhy, refusals, Rubric, RequestedTask } from './fact-values.js';
import { applied, assessed, commandText, decided, noted, planTaken, runEnded, runForked, runStarted, saying } from './fact-wording.js';
import { RunId } from './ids.js';
import type { EngineEntry } from './run-stream.js';
import { StageCode } from './stages.js';
import { stateSetAside } from './state-set-aside.js';
import { strategyFailed } from './strategy-failed.js';
import { taskAdmitted, taskOpened, taskRefused, taskSettled } from './task-wording.js';
import { ThoughtCode } from './thoughts.js';
import { AwaitedCalls, ClientEvidence, FailureNote, RuleId, Timestamp, Usage } from './values.js';

const told = { plan: 'the plan', noPlan: 'the missing plan', result: 'a result', decided: 'the decision', command: 'a command' } as const;

export const factSpecs = [
  defineFact(
    'RunStarted',
    'The request was accepted; the run exists from here on.',
    {
      at: Timestamp,
      strategy: z.string(),
      maxRounds: z.int().describe('maximum rounds, including the first pass'),
      round: z.string().optional().describe('what the strategy calls a round, such as `wave`'),
      request: PlanRequested.schema,
    },
    (fact) => runStarted(fact),
    ({ request, strategy, maxRounds, round }) => [
      { kind: 'run.started', template: request.template.id, strategy, maxRounds, ...(round ? { round } : {}), question: request.goal },
    ],
  ),
  defineFact(
    'StrategyChosen',
    'The strategy that decides from here on.',
    { strategy: z.string() },
    ({ strategy }) => `The strategy ${strategy} decides from here on.`,
  ),
  strategyFailed,
  stateSetAside,
  defineFact(
    'RunForked',
    'The facts so far are those of another run; from here on this run decides by itself.',
    {
      of: RunId.describe('run that this one continues'),
      step: z.int().describe('last step of that run that it shares'),
      at: Timestamp,
      ranMs: z.number().describe('milliseconds that the clock of that run had counted by then'),
    },
    (fact) => runForked(fact),
    ({ of, step }) => [{ kind: 'run.forked', of, step }],
  ),
  defineFact(
    'PlanAwaited',
    'The planner was asked for the plan of an epoch.',
    {
      epoch: z.int(),
      by: z.enum(['request', 'engine']).describe('what the planner reads: the request itself, or GapDetected'),
      deadline: Timestamp,
      max: z.int().describe('re-plans that are allowed'),
      replan: z.boolean(),
      forbidTried: z.boolean(),
      gap: z.string(),
      round: z.string().optional().describe('what the strategy calls a round, such as `wave`'),
    },
    ({ epoch, gap, forbidTried }) =>
      `The planner was asked for plan ${epoch}${gap ? ', for what is missing' : ''}${forbidTried ? ', without what was tried before' : ''}.`,
    ({ epoch, replan, max, gap, round }) => [
      replan
        ? { kind: 'replanning', iteration: epoch, max, gap, ...(round ? { round } : {}) }
        : { kind: 'planning', epoch, iteration: 0, max },
    ],
  ),
  defineFact('PlanTaken', 'A plan was taken.', { epoch: z.int(), by: z.enum(['planner', 'engine']), plan: PlanCreated.schema }, (fact) =>
    planTaken(fact),
  ),
  defineFact(
    'PlanRefused',
    'No plan arrived for this epoch, or its plan may not run.',
    {
      epoch: z.int(),
      why: z.string(),
      by: z.enum(['planner', 'clock', 'engine']),
      usage: Usage,
      failure: FailureNote.nullable(),
      plan: PlanCreated.schema.nullable().describe('the invalid plan, if one arrived'),
      flaggedAt: Timestamp.optional().describe('when the planner reported that it had found the cancel flag of the run'),
    },
    ({ epoch, why, usage: { calls } }) => `There is no plan ${epoch}${calls > 0 ? `, after ${counted(calls, 'model call')}` : ''}: ${why}`,
  ),
  defineFact(
    'UsageCounted',
    'A late result is counted and changes nothing else.',
    { of: z.string(), attempt: z.int(), usage: Usage },
    ({ of, usage }) =>
      `The result of ${local(of)} arrived too late and changes nothing; its cost is counted: ${counted(usage.calls, 'model call')}.`,
  ),
  defineFact(
    'TaskAdmitted',
    'A task belongs to the run. It may still wait for others.',
    { ref: z.string(), epoch: z.int(), helper: z.boolean().describe('outside the round'), taskClass: z.string(), wish: RequestedTask },
    (fact) => taskAdmitted(fact),
  ),
  defineFact(
    'TaskOpened',
    'A task was dispatched to the workers of its class.',
    {
      ref: z.string(),
      capability: z.string(),
      taskClass: z.string(),
      allowance: Allowance,
      startBy: Timestamp,
      timeoutS: z.number(),
      stream: z.enum(['live', 'held']),
      composes: z.boolean(),
    },
    (fact) => taskOpened(fact),
    ({ ref, capability, taskClass, stream, composes }) => [
      { kind: 'task.dispatched', taskId: ref, capability, taskClass },
      ...(composes ? [{ kind: 'composing' as const, taskId: ref, stream }] : []),
    ],
  ),
  defineFact('TaskStarted', 'A worker has begun the task.', { ref: z.string() }, ({ ref }) => `Task ${local(ref)} was begun by a worker.`),
  defineFact(
    'TaskRefused',
    'A task ended without being dispatched.',
    { ref: z.string(), capability: z.string(), why: RefusedWhy, at: Timestamp },
    (fact, asked) => taskRefused(fact, asked),
    ({ ref, capability, why }) =>
      why === 'cancelled'
        ? []
        : [
            {
              kind: 'task.settled',
              taskId: ref,
              capability,
              status: why === 'budget' ? 'error' : 'repeated',
              confidence: null,
              facts: 0,
              summary: refusals[why],
              durationMs: 0,
            },
          ],
  ),
  defineFact(
    'TaskSettled',
    'The first outcome of a task.',
    {
      ref: z.string(),
      capability: z.string(),
      by: z.enum(['worker', 'engine']),
      at: Timestamp,
      facts: z.int().describe('number of its facts that were new'),
      text: z.string().describe('what it says, in short'),
      result: ResultReady.schema,
    },
    (fact, asked) => taskSettled(fact, asked),
    ({ ref, capability, result, facts, text }) => [
      {
        kind: 'task.settled',
        taskId: ref,
        capability,
        status: result.status,
        confidence: result.confidence,
        facts,
        summary: bounded(result.failure?.message ?? text, shownText),
        durationMs: result.durationMs,
      },
    ],
  ),
  defineFact(
    'TaskAccepted',
    'A result counts from here on, and those it replaces no longer do.',
    { ref: z.string(), instead: z.array(z.string()) },
    ({ ref, instead }) => `The result of ${local(ref)} counts${instead.length > 0 ? ` in place of ${instead.map(local).join(', ')}` : ''}.`,
  ),
  defineFact(
    'Turn',
    'The strategy was asked what follows.',
    {
      hook: z.enum(['plan', 'noPlan', 'result', 'decided', 'command']),
      plan: z
        .object({
          epoch: z.int(),
          fallback: z.boolean(),
          says: z.string().optional().describe("the planner's own account of its plan"),
          tasks: z.array(z.object({ taskId: z.string(), capability: z.string(), task: z.string(), needs: z.array(z.string()) })),
        })
        .optional()
        .describe('content of the plan'),
    },
    ({ hook, plan }) =>
      plan?.says ? `The planner says of plan ${plan.epoch}${saying(plan.says)}` : `The strategy was told of ${told[hook]}.`,
    ({ plan }) => (plan ? [{ kind: 'plan.ready', ...plan }] : []),
    // What the strategy answers are the facts that follow, and what the planner says is in the plan.
    () => true,
  ),
  defineFact(
    'RoundClosed',
    'The tasks since the last decision have their outcomes.',
    { epoch: z.int(), failed: z.boolean(), newFacts: z.int(), planSummary: z.string(), findings: z.string() },
    ({ epoch, failed, newFacts }) =>
      `A round of plan ${epoch} is closed${failed ? ' and counts as failed,' : ''} with ${newFacts === 0 ? 'no new fact' : counted(newFacts, 'new fact')}.`,
  ),
  defineFact(
    'Assessed',
    'What the strategy reports about its state before the table decides.',
    { epoch: z.int(), reading: Reading },
    ({ reading }) => assessed(reading),
    ({ epoch, reading }) =>
      reading.by !== 'assessment' || reading.unaffordable !== undefined
        ? []
        : [
            {
              kind: 'assessed',
              epoch,
              verdict: reading.sufficient ? 'complete' : 'needs_more_info',
              gap: reading.open ?? '',
              nextFocus: reading.nextFocus ?? '',
              parsed: reading.unread === undefined,
              ...(reading.unread === 'failed' ? { failed: true } : {}),
            },
          ],
  ),
  defineFact(
    'Decided',
    'A row of the decision table was applied.',
    {
      epoch: z.int(),
      rule: RuleId,
      then: z.enum(['finish', 'continue', 'adjust', 'ask_user', 'ask_model']),
      sentence: z.string(),
      at: Timestamp,
    },
    (fact) => decided(fact),
    ({ epoch, rule, sentence }) => [{ kind: 'decided', epoch, rule, sentence }],
  ),
  defineFact(
    'Finishing',
    'The run will end in this way, and its answer is being written.',
    { ending: Ending },
    ({ ending }) => `The run begins to end as ${ending.outcome}: ${ending.reason}`,
    undefined,
    // The decision before it says why, and the end itself how.
    () => true,
  ),
  defineFact(
    'QuestionAsked',
    'The run waits for an answer from the user, or for results of the tools of its client.',
    { question: z.string(), deadline: Timestamp, at: Timestamp, calls: AwaitedCalls.optional() },
    ({ question, calls }) => `The ${calls ? 'client' : 'user'} was asked: ${question}`,
    ({ question, deadline, calls }) => [{ kind: 'question.asked', question, deadline, ...(calls ? { calls } : {}) }],
  ),
  defineFact(
    'CommandAccepted',
    'A command has reached the run. It is applied or rejected later, at the latest when the run ends.',
    {
      seq: z.int(),
      name: z.string(),
      actor: z.string(),
      at: Timestamp,
      text: z.string().optional().describe('what it says, in short'),
      key: z.string().optional().describe('equal for repeats of one command'),
    },
    ({ name, seq, actor, text }) => `Command ${seq} (${name}) from ${actor} arrived${saying(text ?? '')}`,
    ({ seq, name, actor, text }) => [{ kind: 'command.accepted', seq, name, actor, ...(text === undefined ? {} : { text }) }],
  ),
  defineFact(
    'CommandQueued',
    'A command waits for the strategy.',
    { seq: z.int(), command: z.record(z.string(), z.unknown()) },
    ({ seq, command }) => `Command ${seq} (${String(command['name'])}) waits for the strategy${saying(commandText(command))}`,
  ),
  defineFact(
    'CommandApplied',
    'A command took effect.',
    { seq: z.int(), name: z.string(), epoch: z.int(), at: Timestamp, text: z.string().optional(), evidence: ClientEvidence.optional() },
    (fact) => applied(fact),
    ({ seq, name, epoch }) => [{ kind: 'command.applied', seq, name, epoch }],
  ),
  defineFact(
    'CommandRejected',
    'A command had no effect.',
    { seq: z.int(), name: z.string(), reason: z.string() },
    ({ name, seq, reason }) => `Command ${seq} (${name}) was rejected: ${reason}`,
    ({ seq, name, reason }) => [{ kind: 'command.rejected', seq, name, reason }],
  ),
  defineFact(
    'Paused',
    'Nothing new starts, and the clock of the run stops.',
    { at: Timestamp, until: Timestamp },
    () => 'The run is paused.',
  ),
  defineFact('Resumed', 'The run continues.', { at: Timestamp }, () => 'The run continues.'),
  defineFact(
    'Noted',
    'The strategy stores a value, or a line for readers of the run.',
    {
      data: z.record(z.string(), z.unknown()).optional().describe("members of the strategy's own state"),
      code: ThoughtCode.optional(),
      stage: StageCode.optional().describe('what the run does from here on'),
      text: z.string().optional(),
      taskId: z.string().nullable().optional(),
      detail: z.string().nullable().optional(),
    },
    (fact) => noted(fact),
    ({ code, stage, text, taskId, detail }) => [
      ...(stage ? [{ kind: 'stage' as const, code: stage, text: text ?? '' }] : []),
      ...(code ? [{ kind: 'thought' as const, code, taskId: taskId ?? null, text: text ?? '', detail: detail ?? null }] : []),
    ],
  ),
  defineFact(
    'StepEvaluated',
    'The result of a step was scored.',
    {
      ref: z.string().describe('task of the step'),
      rubric: Rubric,
      mean: z.number().describe('of the four scores, 1 to 5'),
      quality: z.enum(['good', 'partial', 'failed']).describe('derived from the mean: good from 3.5, partial from 2.0'),
      confidence: z.number().min(0).max(1).describe('the mean on a scale from 0 to 1'),
      summary: z.string(),
      durationMs: z.int().nonnegative().describe('of the step and its evaluation'),
    },
    ({ ref, mean, quality, summary }) => `Step ${local(ref)} was scored as ${quality} (${mean} of 5): ${bounded(summary, shownText)}`,
    ({ ref, mean, quality, summary }) => [
      {
        kind: 'thought',
        code: 'reasoning.result',
        taskId: ref,
        text: `The step is ${quality} (${mean} of 5): ${bounded(summary, shownText)}`,
        detail: null,
        score: { mean, quality },
      },
    ],
  ),
  defineFact(
    'MemoryReplaced',
    'A reply replaced the working memory.',
    { by: z.string().describe('phase whose reply it was'), text: z.string() },
    ({ by, text }) => `The ${by} replaced the working memory${saying(text)}`,
  ),
  defineFact(
    'MemoryCompressed',
    'The working memory was shortened to the essential.',
    { text: z.string(), before: z.int().nonnegative().describe('characters before') },
    ({ text, before }) => `The working memory was compressed from ${before} to ${counted(text.length, 'character')}${saying(text)}`,
  ),
  defineFact(
    'RunEnded',
    'The run is over; nothing follows.',
    {
      at: Timestamp,
      ending: Ending,
      answer: Draft.nullable(),
      usage: Usage,
      rounds: z.int(),
      openCalls: z.int().describe('plans that were awaited and did not come, and tasks whose workers had not answered'),
      failure: FailureNote.nullable(),
    },
    (fact) => runEnded(fact),
    ({ ending, answer, usage, rounds, failure }) => [
      {
        kind: 'run.completed',
        ...ending,
        answer: answer?.text ?? null,
        cutShort: answer?.cutShort ?? false,
        sources: [...(answer?.sources ?? [])],
        usage,
        rounds,
        failure,
      },
    ],
  ),
] as const;

export type RunFact = z.infer<(typeof factSpecs)[number]['schema']>;
export type FactKind = RunFact['kind'];
export type FactOf<K extends FactKind> = Extract<RunFact, { kind: K }>;

const byKind = new Map<string, FactSpec<string, z.ZodType>>(
  factSpecs.map((spec) => [spec.kind, spec as unknown as FactSpec<string, z.ZodType>]),
);

/** One line for readers of a run's history. `asked`: what its tasks were asked, of which the line of a failure reminds. */
export const factSentence = (fact: RunFact, asked: AskedTasks = new Map()): string => byKind.get(fact.kind)!.sentence(fact, asked);

/** Whether a list for people leaves the fact out: the facts around it say the same. */
export const isQuiet = (fact: RunFact): boolean => byKind.get(fact.kind)!.quiet?.(fact) ?? false;

/** The entries of a fact in the run stream. */
export const factEntries = (fact: RunFact): readonly EngineEntry[] => byKind.get(fact.kind)!.entries?.(fact) ?? [];

/** Parses a recorded fact with the current schema. Throws ZodError for an invalid fact. */
export const readFact = (value: unknown): RunFact => {
  const kind = (value as { kind?: unknown } | null)?.kind;
  const spec = typeof kind === 'string' ? byKind.get(kind) : undefined;
  if (!spec) throw new TypeError(`There is no fact of the kind ${String(kind)}.`);
  return spec.schema.parse(value) as RunFact;
};
