import type { TaskOutput, ThoughtCode } from '@conclave/contracts';
import { answerByAsk, emptyAnswer, LiveText, promptDetail, thinkAloud, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import type { Ask } from '@conclave/strategies';

type Result = Extract<Awaited<ReturnType<Capability>>, { result: unknown }>['result'];

/** What a judge tells people while it works. */
interface Lines<In, Out> {
  readonly codes: { readonly prompt: ThoughtCode; readonly response: ThoughtCode };
  /** What it sets out to do. */
  asks(input: In): string;
  /** What came of it. */
  says(output: Out, input: In): string;
}

export interface Judge<In, Out extends TaskOutput> {
  readonly ask: Ask<In, Out>;
  /** What a reply that cannot be used amounts to; null where it is an empty answer, an error. */
  readonly unreadable: Out | null;
  readonly lines?: Lines<In, Out>;
  /** Absent where the output of the ask is that of the task. */
  result?(output: Out): Result;
}

/** Answers the tasks of a judge by its ask, and tells what it does. A live text streams as the model writes it. */
export const judgeCapability =
  <In, Out extends TaskOutput>(maker: Calls, stream: ShownIn, { ask, unreadable, lines, result }: Judge<In, Out>): Capability =>
  (context) => {
    const { task } = context;
    const { taskId } = task.data;
    const input = ask.input.parse(task.data.input);
    const tell = (attempt: number, n: number, code: ThoughtCode, text: string, detail: string): Promise<void> =>
      thinkAloud(stream, task, attempt, [{ n, code, text, detail }]);
    let read = { attempt: 0, content: '' };
    return answerByAsk(
      maker,
      context,
      ask,
      input,
      {
        ...(task.data.stream === 'live' ? { live: (attempt) => new LiveText(stream, task.runId, taskId, attempt) } : {}),
        onBegun: async ({ attempt, messages }, { n, of }) => {
          if (!lines) return;
          const text = n === 1 ? lines.asks(input) : `Is asked again (attempt ${n} of ${of})`;
          await tell(attempt, 0, lines.codes.prompt, text, promptDetail(messages));
        },
        onRead: async ({ attempt, reply, faults }, { n, of }) => {
          read = { attempt, content: reply.content };
          if (lines && faults[0] !== undefined)
            await tell(
              attempt,
              1,
              lines.codes.response,
              `The reply could not be used (attempt ${n} of ${of}): ${faults[0]}`,
              reply.content,
            );
        },
      },
      async (given) => {
        const output = given ?? unreadable;
        if (output === null) return emptyAnswer;
        if (lines) await tell(read.attempt, given ? 1 : 2, lines.codes.response, lines.says(output, input), read.content);
        return result?.(output) ?? { status: 'ok', output };
      },
    );
  };
