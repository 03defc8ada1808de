import type { TaskInput } from '@conclave/contracts';
import {
  answerTask, emptyAnswer, insteadOf, LiveText, promptDetail, thinkAloud, type Calls, type Capability, type FillIn, type ShownIn,
} from '@conclave/service-calls'; // prettier-ignore
import { expertPrompt, readExpert } from '@conclave/strategies';

/** The usual first tier needs no word. */
const tierWords: Readonly<Record<string, string>> = { t2: ' of the second tier', always: ', which is always asked' };

/**
 * `expert.<category>`: one model call with the evidence of the round. Where its reply is the answer itself and nothing may change it any
 * more, it streams as the model produces it, and what the user saw is exactly the text of the result.
 */
export const expertCapability =
  (maker: Calls, stream: ShownIn, fillIn: FillIn): Capability =>
  async (context) => {
    const { task } = context;
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'expert' }>;
    const expert = `${input.category.replaceAll('_', ' ')} expert`;
    const isLive = data.stream === 'live';
    let live: { readonly attempt: number; readonly text: LiveText } | null = null;
    const textOf = (attempt: number): LiveText => {
      if (live?.attempt !== attempt) live = { attempt, text: new LiveText(stream, task.runId, data.taskId, attempt) };
      return live.text;
    };
    return answerTask(
      maker,
      context,
      {
        messages: (promptTokens) => expertPrompt(input, promptTokens, data.prompts),
        ...(input.attachments.length > 0 ? { fillIn } : {}),
        ...(input.parameters ? { parameters: input.parameters } : {}),
        onBegun: async (attempt, model, messages, before) => {
          await thinkAloud(stream, task, attempt, [
            { n: 0, code: 'expert.prompt', text: `The ${expert} gets its task`, detail: promptDetail(messages) },
            { n: 1, code: 'expert.call', text: `The ${expert} asks ${model}${tierWords[data.tier] ?? ''}${insteadOf(before)}` },
          ]);
        },
        ...(isLive ? { onContent: (text: string, attempt: number) => textOf(attempt).push(text) } : {}),
      },
      async ({ reply, attempt, model, replayed }) => {
        const read = readExpert(reply.content);
        if (isLive) {
          const text = textOf(attempt);
          if (replayed) text.push(reply.content);
          await text.flush();
        }
        if (read.text === '') return emptyAnswer;
        await thinkAloud(stream, task, attempt, [
          { n: 2, code: 'expert.response', text: `${model} has answered, confidence ${read.confidence.toFixed(2)}`, detail: reply.content },
        ]);
        return {
          status: 'ok',
          output: { kind: 'answer', text: isLive ? reply.content : read.text, finding: read.finding },
          confidence: read.confidence,
          gaps: [...read.gaps],
          refer: [...read.refer],
        };
      },
    );
  };
