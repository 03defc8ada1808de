import type { TaskInput } from '@conclave/contracts';
import { askModels, failedStatus, note, type Calls, type Capability, type ShownIn } from '@conclave/service-calls';
import { expertPrompt, readExpert } from '@conclave/strategies';

/** `expert.<category>`: one model call with the evidence of the round. */
export const expertCapability =
  (maker: Calls, stream: ShownIn): Capability =>
  async ({ task, signal, deadline }) => {
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'expert' }>;
    const answered = await askModels(maker, {
      runId: task.runId,
      owner: data.taskId,
      purpose: data.capability,
      models: data.models,
      messages: (promptTokens) => expertPrompt(input, promptTokens),
      deadline,
      calls: data.allowance.calls,
      tokens: data.allowance.tokens,
      cost: data.allowance.cost,
      contexts: data.contexts,
      prices: data.prices,
      signal,
      onBegun: async (attempt, model) => {
        await stream.append(task.runId, [
          { kind: 'progress', taskId: data.taskId, attempt, n: 0, code: 'expert.call', text: `${input.category} asks ${model}` },
        ]);
      },
    });
    if (answered.kind === 'busy') return { deferMs: answered.retryInMs };
    const { usage, attempt, records } = answered;
    if (answered.kind === 'cancelled')
      return { result: { status: 'cancelled', failure: note('CALL_CANCELLED', 'The task was cancelled.'), usage, attempt }, records };
    if (answered.kind === 'failed') {
      return { result: { status: failedStatus(answered.failure), failure: answered.failure, usage, attempt }, records };
    }
    const reply = readExpert(answered.reply.content);
    if (reply.text === '')
      return {
        result: {
          status: 'error',
          failure: note('PROVIDER_REPLY_INVALID', 'The model gave an empty answer.'),
          usage,
          attempt,
          model: answered.model,
        },
        records,
      };
    return {
      result: {
        status: 'ok',
        output: { kind: 'answer', text: reply.text, finding: reply.finding },
        confidence: reply.confidence,
        gaps: [...reply.gaps],
        refer: [...reply.refer],
        model: answered.model,
        usage,
        attempt,
      },
      records,
    };
  };
