import type { TaskInput } from '@conclave/contracts';
import { answerTask, promptDetail, thinkAloud, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { citedSources, criticPrompt, readCritique, sourceList, withoutMarks } from '@conclave/strategies';

const verdictLines = {
  confirmed: 'The review confirms the answer',
  corrected: 'The review corrects the answer',
  unparsable: 'The verdict could not be read; the answer stays',
} as const;

/** `judge.critic`: the verdict on an answer that nobody has seen yet. A corrected one gets its list of sources anew. */
export const criticCapability =
  (maker: Calls, stream: ShownIn): Capability =>
  (context) => {
    const { task } = context;
    const input = task.data.input as Extract<TaskInput, { kind: 'critic' }>;
    return answerTask(
      maker,
      context,
      {
        messages: (promptTokens) => criticPrompt(input, promptTokens, task.data.prompts),
        temperature: 0,
        onBegun: (attempt, _model, messages) =>
          thinkAloud(stream, task, attempt, [
            {
              n: 0,
              code: 'critic.prompt',
              text: `Reviews the answer (${input.categories.map((category) => category.replaceAll('_', ' ')).join(', ')})`,
              detail: promptDetail(messages),
            },
          ]),
      },
      async ({ reply, attempt }) => {
        const { verdict, reasons, ...critique } = readCritique(reply.content);
        const text = critique.text === null ? null : withoutMarks(critique.text, `${input.question}\n${input.answer}`);
        await thinkAloud(stream, task, attempt, [
          {
            n: 1,
            code: 'critic.response',
            text: verdictLines[verdict],
            detail: reply.content,
          },
        ]);
        const listed = text === null || text.includes('\nSources:\n') ? text : text + sourceList(citedSources(text, input.facts));
        return { status: 'ok', output: { kind: 'critique', verdict, reasons, text: listed } };
      },
    );
  };
