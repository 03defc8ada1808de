import {
  commandId,
  failures,
  type AnyEvent,
  type CallRecorded,
  type CommandIssued,
  type Event,
  type FactOf,
  type FailureCode,
  type FailureNote,
  type ResultReady,
  type RunCompleted,
  type StepRecorded,
  type TaskDispatched,
} from '@conclave/contracts';
import type { Metrics } from './metrics.js';
import { RunOverheads, uncovered, type Interval } from './overhead.js';
import { RecentIds } from './recent-ids.js';

/** Least number of event ids remembered, so that a redelivery in the same process is not counted again. */
const remembered = 2_000;

/** What one observer remembers; limited like the ids. */
class Known {
  readonly overheads = new RunOverheads();
  /** Id of a command -> when a gateway accepted it. */
  private readonly issued = new Map<string, number>();

  noteCommand({ id, data }: CommandIssued): void {
    this.issued.set(id, data.issuedAt);
    if (this.issued.size > remembered) this.issued.delete(this.issued.keys().next().value!);
  }
  /** Milliseconds since 1970; undefined if another process received the command. */
  issuedAt(runId: string, seq: number): number | undefined {
    return this.issued.get(commandId(runId, seq));
  }
}

/**
 * Counts the events that handlers return. Runs, decisions, tasks, plans and calls are all events, so the transport measures them once for
 * all services. A repeat after the death of a process may be counted in two processes; bills use CallRecorded.
 */
export function observeEvents(metrics: Metrics): (input: Event, outputs: readonly Event[]) => void {
  const seen = new RecentIds(remembered);
  const known = new Known();
  return (event, outputs) => {
    const input = event as AnyEvent;
    known.overheads.took(input);
    if (input.type === 'CommandIssued') known.noteCommand(input);
    for (const output of outputs) if (seen.add(output.id)) measure(metrics, known, input, output as AnyEvent, outputs);
  };
}

function measure(metrics: Metrics, known: Known, input: AnyEvent, output: AnyEvent, outputs: readonly Event[]): void {
  known.overheads.gave(output);
  switch (output.type) {
    case 'RunCompleted':
      return measureRun(metrics, output, known.overheads.ended(output));
    case 'StepRecorded':
      if (output.data.rule) metrics.count('decisions_total', { rule: output.data.rule });
      return measureCommands(metrics, known, output);
    case 'GapDetected':
      return metrics.count('gaps_total', {});
    case 'PlanCreated':
      if (output.data.failure) countFailure(metrics, 'plan', output.data.failure);
      return metrics.count('plans_total', { result: output.data.failure ? 'failed' : output.data.fallback ? 'fallback' : 'ok' });
    case 'TaskDispatched':
      if (output.data.tier === 't2') metrics.count('escalations_total', { capability: output.data.capability });
      return;
    case 'ResultReady':
      if (input.type === 'TaskDispatched') measureTask(metrics, input, output, outputs);
      return;
    case 'CallRecorded':
      return measureCall(metrics, output);
    default:
  }
}

function measureRun(metrics: Metrics, { data }: RunCompleted, overheadMs: number | null): void {
  const { template, outcome, rounds, rule, assessed, failure, startedAt, completedAt } = data;
  metrics.count('runs_total', { template: template.id, strategy: template.strategy, outcome });
  metrics.observe('run_rounds', { template: template.split_of ?? template.id, arm: template.id }, rounds);
  if (rule === 'D3' && assessed === false) metrics.count('unassessed_runs_total', {});
  metrics.observe('run_seconds', { template: template.id, outcome }, Math.max(0, completedAt - startedAt) / 1000);
  if (overheadMs !== null) metrics.observe('run_overhead_seconds', { template: template.id }, overheadMs / 1000);
  if (failure) countFailure(metrics, 'run', failure);
}

function measureTask(metrics: Metrics, { data: task }: TaskDispatched, { data, time }: ResultReady, outputs: readonly Event[]): void {
  const { capability, tier } = task;
  const { status, durationMs, confidence, failure } = data;
  metrics.count('tasks_total', { capability, status, tier });
  if (capability === 'judge.gap') metrics.count('gap_checks_total', { verdict: verdictOf(data) });
  metrics.observe('task_seconds', { capability }, durationMs / 1000);
  const calls = (outputs as readonly AnyEvent[]).flatMap((one): Interval[] =>
    one.type === 'CallRecorded' ? [[one.data.startedAt, one.data.startedAt + one.data.durationMs]] : [],
  );
  metrics.observe('task_overhead_seconds', { capability }, uncovered([time - durationMs, time], calls) / 1000);
  if (confidence !== null && capability.startsWith('expert.')) metrics.observe('expert_confidence', { capability, tier }, confidence);
  if (failure) countFailure(metrics, 'task', failure);
}

/** Commands that a step has applied or rejected, which may have arrived with an earlier one. */
function measureCommands(metrics: Metrics, known: Known, { runId, data }: StepRecorded): void {
  for (const fact of data.facts as readonly Partial<FactOf<'CommandApplied' | 'CommandRejected'>>[]) {
    if (fact.kind === 'CommandRejected') metrics.count('commands_rejected_total', { command: fact.name! });
    if (fact.kind !== 'CommandApplied') continue;
    const issuedAt = known.issuedAt(runId, fact.seq!);
    if (issuedAt !== undefined) metrics.observe('command_seconds', { command: fact.name! }, Math.max(0, data.now - issuedAt) / 1000);
  }
}

const errorTypeOf = (failure: FailureNote): string => failures[failure.code as FailureCode]?.errorType ?? '_other';

const countFailure = (metrics: Metrics, stage: 'plan' | 'task' | 'run', failure: FailureNote): void =>
  metrics.count('failures_total', { stage, error_type: errorTypeOf(failure) });

function verdictOf({ output }: ResultReady['data']): string {
  if (output?.kind !== 'assessment') return 'failed';
  return output.assessment.parsed ? output.assessment.verdict : 'unreadable';
}

/** Counts one model or tool call; for callers outside the transport, such as a pass-through of the gateway. */
export function measureCall(metrics: Metrics, { data: call }: CallRecorded): void {
  const provider = call.model.split('@').at(-1)!;
  // The name of a model that does not exist is any text that a client sent.
  const model = call.failure?.code === 'MODEL_NOT_FOUND' ? `_unknown@${provider}` : call.model;
  metrics.count('model_calls_total', { model, purpose: call.purpose, status: call.status });
  metrics.observe('model_call_seconds', { model }, call.durationMs / 1000);
  if (call.firstTokenMs !== null) metrics.observe('model_first_token_seconds', { model }, call.firstTokenMs / 1000);
  metrics.count('model_tokens_total', { model, kind: 'prompt' }, call.usage.prompt);
  metrics.count('model_tokens_total', { model, kind: 'completion' }, call.usage.completion);
  metrics.count('model_tokens_total', { model, kind: 'reasoning' }, call.usage.reasoning);
  if (call.usage.cost > 0) metrics.count('model_cost_total', { model }, call.usage.cost);
  if (call.failure) metrics.count('provider_errors_total', { provider, error_type: errorTypeOf(call.failure) });
}
