import type { TaskInput } from '@conclave/contracts';
import { answerTask, emptyAnswer, LiveText, promptDetail, thinkAloud, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import {
  answerLabel,
  citedSources,
  InsightFilter,
  QuoteFilter,
  readInsight,
  sourceList,
  synthesisPrompt,
  unsupported,
  unsupportedNote,
  wantsJson,
} from '@conclave/strategies';

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** One attempt's text on its way to the user: the insight block and the marks of quoted data taken out, sources appended at its end. */
class Showing {
  private readonly filter = new InsightFilter();
  private readonly live: LiveText | null;
  private shown = '';
  block: string | null = null;

  constructor(
    live: LiveText | null,
    private readonly quotes: QuoteFilter,
  ) {
    this.live = live;
  }
  push(text: string): void {
    this.show(this.quotes.push(this.filter.push(text)));
  }
  show(text: string): void {
    this.shown += text;
    this.live?.push(text);
  }
  end(): string {
    const end = this.filter.end();
    this.show(this.quotes.push(end.shown) + this.quotes.end());
    this.block = end.block;
    return this.shown;
  }
  async flush(): Promise<void> {
    await this.live?.flush();
  }
}

/**
 * `judge.synthesis`: writes the answer. A live one streams as the model produces it; what the user saw is exactly the text of the result.
 * A reply that was already paid for is shown again from its beginning; the run stream keeps only what it does not have yet.
 */
export const synthesisCapability =
  (maker: Calls, stream: ShownIn): Capability =>
  (context) => {
    const { task } = context;
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'synthesis' }>;
    const own = [input.question, input.system ?? '', ...input.conversation.map(({ content }) => content)].join('\n');
    const showing = (attempt: number): Showing =>
      new Showing(
        data.stream === 'live' ? new LiveText(stream, task.runId, data.taskId, attempt) : null,
        new QuoteFilter(own, input.answers.map(answerLabel)),
      );
    let current: { readonly attempt: number; readonly showing: Showing } | null = null;
    return answerTask(
      maker,
      context,
      {
        messages: (promptTokens) => synthesisPrompt(input, promptTokens, data.prompts),
        parameters: input.parameters,
        onBegun: (attempt, _model, messages) =>
          thinkAloud(stream, task, attempt, [
            {
              n: 0,
              code: 'merger.prompt',
              text: `Writes it from ${counted(input.facts.length, 'fact')} and ${counted(input.answers.length, 'answer')} of experts`,
              detail: promptDetail(messages),
            },
          ]),
        onContent: (text, attempt) => {
          if (current?.attempt !== attempt) current = { attempt, showing: showing(attempt) };
          current.showing.push(text);
        },
      },
      async ({ reply, attempt, replayed }) => {
        let shown = (current as { attempt: number; showing: Showing } | null)?.showing;
        // A text that nobody has seen yet is the reply as its adapter cleaned it.
        if (!shown || replayed || data.stream === 'held') {
          shown = showing(attempt);
          shown.push(reply.content);
        }
        const written = shown.end();
        const blankAtEnd = Math.min(2, written.length - written.trimEnd().length);
        const cited = citedSources(written, input.facts);
        const beyond = wantsJson(input) ? [] : unsupported(written, input.facts, input.question);
        if (!wantsJson(input)) shown.show((sourceList(cited) + unsupportedNote(beyond)).slice(blankAtEnd));
        const text = shown.end();
        await shown.flush();
        if (text.trim() === '') return emptyAnswer;
        await thinkAloud(stream, task, attempt, [
          {
            n: 1,
            code: 'merger.response',
            text: `It is written: ${counted(text.length, 'character')}, ${counted(cited.length, 'citation')}`,
            detail: reply.content,
          },
        ]);
        const { insight, rejected } = readInsight(shown.block);
        return {
          status: 'ok',
          output: {
            kind: 'synthesis',
            text,
            insight,
            insightRejected: rejected,
            cutShort: reply.finishReason === 'length',
            ...(beyond.length > 0 ? { unsupported: [...beyond] } : {}),
          },
          sources: cited.map(({ n, source }) => ({ ...source, n })),
        };
      },
    );
  };
