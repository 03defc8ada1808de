import type { TaskOutput, ThoughtCode } from '@conclave/contracts';
import {
  answerByAsk,
  emptyAnswer,
  LiveText,
  note,
  promptDetail,
  appendThoughts,
  saidOf,
  type Calls,
  type Capability,
  type ShownIn,
  waitingN,
} from '@conclave/calls';
import type { ModelReply } from '@conclave/ports';
import type { AnyQuestion } from '@conclave/strategies';

/** The result of a question that has no output for unusable replies: a failure that names the fault of the last reply. */
const unreadableReply = (fault: string) => ({
  status: 'error' as const,
  failure: note('PROVIDER_REPLY_INVALID', `The reply could not be used: ${fault}`),
});

/** Answers a judge's tasks by its ask and reports progress. A live text streams as the model writes it. */
export const judgeCapability =
  (maker: Calls, stream: ShownIn, { ask, unreadable, lines, result }: AnyQuestion): Capability =>
  (context) => {
    const { task } = context;
    const { taskId } = task.data;
    const input = ask.input.parse(task.data.input);
    const tell = (attempt: number, n: number, code: ThoughtCode, text: string, detail: string): Promise<void> =>
      appendThoughts(stream, task, attempt, [{ n, code, text, detail }]);
    let read: { readonly attempt: number; readonly content: string; readonly reply: ModelReply | null; readonly fault: string } = {
      attempt: 0,
      content: '',
      reply: null,
      fault: '',
    };
    return answerByAsk(
      maker,
      context,
      ask,
      input,
      {
        ...(task.data.stream === 'live' ? { live: (attempt) => new LiveText(stream, task.runId, taskId, attempt) } : {}),
        onBegun: async ({ attempt, messages }, { n, of }) => {
          if (!lines) return;
          const text = n === 1 ? lines.asks(input) : `The model is asked again (attempt ${n} of ${of})`;
          await tell(attempt, 0, lines.codes.prompt, text, promptDetail(messages));
        },
        ...(lines
          ? { onWaiting: (attempt, text) => appendThoughts(stream, task, attempt, [{ n: waitingN, code: lines.codes.prompt, text }]) }
          : {}),
        onRead: async ({ attempt, reply, faults, output }, { n, of }) => {
          read = { attempt, content: reply.content, reply, fault: faults[0] ?? '' };
          if (!lines) return;
          const text =
            faults[0] === undefined
              ? lines.says(output as TaskOutput, input)
              : `The reply could not be used (attempt ${n} of ${of}): ${faults[0]}`;
          await tell(attempt, 1, lines.codes.response, saidOf(reply, text), reply.content);
        },
      },
      async (given) => {
        const output = given ?? unreadable;
        // What is known of an empty reply says more than its fault: a server may have sent only thinking.
        if (output === null) return read.fault === '' || read.content.trim() === '' ? emptyAnswer(read.reply) : unreadableReply(read.fault);
        if (lines && !given) await tell(read.attempt, 2, lines.codes.response, lines.says(output, input), read.content);
        return result?.(output) ?? { status: 'ok', output };
      },
    );
  };
