import type { TaskInput } from '@conclave/contracts';
import {
  answerTask,
  emptyAnswer,
  insteadOf,
  isCutShort,
  LiveText,
  promptDetail,
  saidOf,
  appendThoughts,
  type Calls,
  type Capability,
  type FillIn,
  type ShownIn,
  waitingN,
} from '@conclave/calls';
import {
  answerWords,
  citedSources,
  expertPrompt,
  isJsonAlone,
  QuoteFilter,
  readExpert,
  sourceList,
  sureFrom,
  unsupported,
  unsupportedNote,
  wantsJson,
  withoutMarks,
} from '@conclave/strategies';

/** The usual first tier is not mentioned. */
const tierWords: Readonly<Record<string, string>> = { t2: ' of the second tier', always: ', which always answers too' };

/**
 * `expert.<category>`: one model call with the evidence of the round. A reply that is itself the final answer streams as the model
 * produces it, and the text the user saw is exactly that of the result.
 */
export const expertCapability =
  (maker: Calls, stream: ShownIn, fillIn: FillIn): Capability =>
  async (context) => {
    const { task } = context;
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'expert' }>;
    const expert = `${input.category.replaceAll('_', ' ')} expert`;
    const isLive = data.stream === 'live';
    const own = [input.goal, input.system ?? '', ...input.conversation.map(({ content }) => content)].join('\n');
    let live: { readonly attempt: number; readonly text: LiveText; readonly quotes: QuoteFilter } | null = null;
    const shownIn = (attempt: number) => {
      if (live?.attempt !== attempt)
        live = { attempt, text: new LiveText(stream, task.runId, data.taskId, attempt), quotes: new QuoteFilter(own) };
      return live;
    };
    const show = (text: string, attempt: number): void => {
      const { text: shown, quotes } = shownIn(attempt);
      shown.push(quotes.push(text));
    };
    return answerTask(
      maker,
      context,
      {
        messages: (promptTokens) => expertPrompt(input, promptTokens, data.prompts),
        ...(input.attachments.length > 0 ? { fillIn } : {}),
        ...(input.parameters ? { parameters: input.parameters } : {}),
        onBegun: async (attempt, model, messages, before) => {
          await appendThoughts(stream, task, attempt, [
            { n: 0, code: 'expert.prompt', text: `The ${expert} receives its task`, detail: promptDetail(messages) },
            { n: 1, code: 'expert.call', text: `The ${expert} asks ${model}${tierWords[data.tier] ?? ''}${insteadOf(before)}` },
          ]);
        },
        onWaiting: (attempt, text) => appendThoughts(stream, task, attempt, [{ n: waitingN, code: 'expert.call', text }]),
        ...(isLive ? { onContent: show } : {}),
      },
      async ({ reply, attempt, model, replayed }) => {
        const answer = withoutMarks(reply.content, own);
        const read = readExpert(answer);
        // A final answer names what it cites, and says which of its citations match nothing, unless a program reads it. It knows no other facts
        // than documents of the request.
        const isAnswer = isLive || (input.final === true && read.confidence >= sureFrom);
        const isRead = wantsJson({ parameters: input.parameters ?? {} }) || isJsonAlone(isLive ? answer : read.text);
        const isChecked = isAnswer && input.evidence.every(({ source }) => source.kind === 'request') && !isRead;
        const words = answerWords(input.language);
        const note = isChecked
          ? sourceList(citedSources(answer, input.evidence), words) + unsupportedNote(unsupported(answer, input.evidence, own), words)
          : '';
        if (isLive) {
          if (replayed) show(reply.content, attempt);
          const { text, quotes } = shownIn(attempt);
          text.push(quotes.end() + note);
          await text.flush();
        }
        if (read.text === '') return emptyAnswer(reply);
        await appendThoughts(stream, task, attempt, [
          {
            n: 2,
            code: 'expert.response',
            text: saidOf(reply, `${model} answered, confidence ${read.confidence.toFixed(2)}`),
            detail: reply.content,
          },
        ]);
        return {
          status: 'ok',
          output: {
            kind: 'answer',
            text: (isLive ? answer : read.text) + note,
            finding: read.finding,
            ...(isCutShort(reply) ? { cutShort: true } : {}),
          },
          confidence: read.confidence,
          gaps: [...read.gaps],
          refer: [...read.refer],
        };
      },
    );
  };
