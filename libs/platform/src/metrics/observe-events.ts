import { failures, type AnyEvent, type CallRecorded, type Event, type FailureCode, type ResultReady } from '@conclave/contracts';
import type { Metrics } from './metrics.js';
import { RecentIds } from './recent-ids.js';

/** Least number of event ids remembered, so that a redelivery in the same process is not counted again. */
const remembered = 2_000;

/**
 * Counts what handlers return: runs, decisions, tasks, plans and calls are all events, so the transport measures them once for all
 * services. A repeat after the death of a process may be counted in two processes; bills come from CallRecorded.
 */
export function observeEvents(metrics: Metrics): (input: Event, outputs: readonly Event[]) => void {
  const seen = new RecentIds(remembered);
  return (input, outputs) => {
    for (const output of outputs) if (seen.add(output.id)) measure(metrics, input as AnyEvent, output as AnyEvent);
  };
}

function measure(metrics: Metrics, input: AnyEvent, output: AnyEvent): void {
  switch (output.type) {
    case 'RunCompleted': {
      const { template, outcome, rounds, startedAt, completedAt } = output.data;
      metrics.count('runs_total', { template: template.id, strategy: template.strategy, outcome });
      metrics.observe('run_rounds', { template: template.split_of ?? template.id, arm: template.id }, rounds);
      if (output.data.rule === 'D3' && output.data.assessed === false) metrics.count('unassessed_runs_total', {});
      metrics.observe('run_seconds', { template: template.id, outcome }, Math.max(0, completedAt - startedAt) / 1000);
      return;
    }
    case 'StepRecorded':
      if (output.data.rule) metrics.count('decisions_total', { rule: output.data.rule });
      return;
    case 'GapDetected':
      return metrics.count('gaps_total', {});
    case 'PlanCreated':
      return metrics.count('plans_total', { result: output.data.failure ? 'failed' : output.data.fallback ? 'fallback' : 'ok' });
    case 'ResultReady':
      if (input.type !== 'TaskDispatched') return;
      metrics.count('tasks_total', { capability: input.data.capability, status: output.data.status });
      if (input.data.capability === 'judge.gap') metrics.count('gap_checks_total', { verdict: verdictOf(output.data) });
      metrics.observe('task_seconds', { capability: input.data.capability }, output.data.durationMs / 1000);
      return;
    case 'CallRecorded':
      return measureCall(metrics, output);
    default:
  }
}

function verdictOf({ output }: ResultReady['data']): string {
  if (output?.kind !== 'assessment') return 'failed';
  return output.assessment.parsed ? output.assessment.verdict : 'unreadable';
}

/** Counts one model or tool call; for callers outside the transport, such as a pass-through of the gateway. */
export function measureCall(metrics: Metrics, { data: call }: CallRecorded): void {
  const model = call.model;
  metrics.count('model_calls_total', { model, purpose: call.purpose, status: call.status });
  metrics.observe('model_call_seconds', { model }, call.durationMs / 1000);
  if (call.firstTokenMs !== null) metrics.observe('model_first_token_seconds', { model }, call.firstTokenMs / 1000);
  metrics.count('model_tokens_total', { model, kind: 'prompt' }, call.usage.prompt);
  metrics.count('model_tokens_total', { model, kind: 'completion' }, call.usage.completion);
  metrics.count('model_tokens_total', { model, kind: 'reasoning' }, call.usage.reasoning);
  if (call.usage.cost > 0) metrics.count('model_cost_total', { model }, call.usage.cost);
  if (call.failure) {
    const errorType = failures[call.failure.code as FailureCode]?.errorType ?? '_other';
    metrics.count('provider_errors_total', { provider: model.split('@').at(-1)!, error_type: errorType });
  }
}
