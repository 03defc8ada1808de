import type { TaskInput } from '@conclave/contracts';
import { askModels, failedStatus, note, type Calls, type Capability } from '@conclave/service-calls';
import { gapPrompt, readGap } from '@conclave/strategies';

/** `judge.gap`: one call, never asked again; what cannot be read counts as COMPLETE and says so. */
export const gapCapability =
  (maker: Calls): Capability =>
  async ({ task, signal, deadline }) => {
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'gap' }>;
    const answered = await askModels(maker, {
      runId: task.runId,
      owner: data.taskId,
      purpose: data.capability,
      models: data.models,
      messages: (promptTokens) => gapPrompt(input, promptTokens),
      temperature: 0,
      deadline,
      calls: data.allowance.calls,
      tokens: data.allowance.tokens,
      cost: data.allowance.cost,
      contexts: data.contexts,
      prices: data.prices,
      signal,
    });
    if (answered.kind === 'busy') return { deferMs: answered.retryInMs };
    const { usage, attempt, records } = answered;
    if (answered.kind === 'cancelled')
      return { result: { status: 'cancelled', failure: note('CALL_CANCELLED', 'The task was cancelled.'), usage, attempt }, records };
    if (answered.kind === 'failed')
      return { result: { status: failedStatus(answered.failure), failure: answered.failure, usage, attempt }, records };
    return {
      result: {
        status: 'ok',
        output: { kind: 'assessment', assessment: readGap(answered.reply.content) },
        model: answered.model,
        usage,
        attempt,
      },
      records,
    };
  };
