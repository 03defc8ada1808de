import type { TaskInput } from '@conclave/contracts';
import { answerTask, type Calls, type Capability } from '@conclave/calls';
import { gapPrompt, readGap } from '@conclave/strategies';

/** `judge.gap`: one call, never asked again; what cannot be read counts as COMPLETE and says so. */
export const gapCapability =
  (maker: Calls): Capability =>
  (context) => {
    const { data } = context.task;
    const input = data.input as Extract<TaskInput, { kind: 'gap' }>;
    return answerTask(
      maker,
      context,
      { messages: (promptTokens) => gapPrompt(input, promptTokens, data.prompts), temperature: 0 },
      ({ reply }) => ({ status: 'ok', output: { kind: 'assessment', assessment: readGap(reply.content) } }),
    );
  };
