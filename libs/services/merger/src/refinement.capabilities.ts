import type { TaskInput } from '@conclave/contracts';
import { answerTask, promptDetail, thinkAloud, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { hintsPrompt, readHints, readScores, scorePrompt } from '@conclave/strategies';

/** `judge.hints`: what unsure experts are to do better. A reply that cannot be read gives no hints, so nobody is asked again. */
export const hintsCapability =
  (maker: Calls, stream: ShownIn): Capability =>
  (context) => {
    const { task } = context;
    const input = task.data.input as Extract<TaskInput, { kind: 'hints' }>;
    const categories = input.answers.map(({ category }) => category.replaceAll('_', ' ')).join(', ');
    return answerTask(
      maker,
      context,
      {
        messages: (promptTokens) => hintsPrompt(input, promptTokens, task.data.prompts),
        temperature: 0,
        onBegun: (attempt, _model, messages) =>
          thinkAloud(stream, task, attempt, [
            { n: 0, code: 'refinement.prompt', text: `Looks for what could be done better: ${categories}`, detail: promptDetail(messages) },
          ]),
      },
      async ({ reply, attempt }) => {
        const hints = readHints(reply.content, input);
        await thinkAloud(stream, task, attempt, [
          {
            n: 1,
            code: 'refinement.response',
            text: `Experts that are asked again: ${Object.keys(hints).length} of ${input.answers.length}`,
            detail: reply.content,
          },
        ]);
        return { status: 'ok', output: { kind: 'hints', hints } };
      },
    );
  };

/** `judge.score`: answers before and after, compared without saying which is which. */
export const scoreCapability =
  (maker: Calls): Capability =>
  (context) => {
    const { task } = context;
    const input = task.data.input as Extract<TaskInput, { kind: 'score' }>;
    return answerTask(
      maker,
      context,
      { messages: (promptTokens) => scorePrompt(input, promptTokens, task.data.prompts), temperature: 0 },
      ({ reply }) => ({ status: 'ok', output: { kind: 'scores', scores: readScores(reply.content, input) } }),
    );
  };
