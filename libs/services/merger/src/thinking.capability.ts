import type { TaskInput } from '@conclave/contracts';
import { answerTask, emptyAnswer, promptDetail, thinkAloud, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { thinkingPrompt } from '@conclave/strategies';

/** `judge.thinking`: the four steps before the answer to a complex question. */
export const thinkingCapability =
  (maker: Calls, stream: ShownIn): Capability =>
  (context) => {
    const { task } = context;
    const input = task.data.input as Extract<TaskInput, { kind: 'thinking' }>;
    return answerTask(
      maker,
      context,
      {
        messages: (promptTokens) => thinkingPrompt(input, promptTokens, task.data.prompts),
        onBegun: (attempt, _model, messages) =>
          thinkAloud(stream, task, attempt, [
            { n: 0, code: 'reasoning.prompt', text: 'Thinks the question through in four steps', detail: promptDetail(messages) },
          ]),
      },
      async ({ reply, attempt }) => {
        const text = reply.content.trim();
        if (text === '') return emptyAnswer;
        await thinkAloud(stream, task, attempt, [{ n: 1, code: 'reasoning.result', text: 'Has thought it through', detail: text }]);
        return { status: 'ok', output: { kind: 'thinking', text } };
      },
    );
  };
