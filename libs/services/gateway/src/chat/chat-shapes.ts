import {
  type AnswerFacts,
  type ChatCompletion,
  type ChatCompletionChunk,
  type ChatDelta,
  type ChatUsage,
  type ClientToolCall,
  type FinishReason,
  type Source,
  type UrlCitation,
  type Usage,
} from '@conclave/contracts';
import { signedId } from '@conclave/ports';

/** Fields common to all chunks of one answer. */
export interface ChunkFrame {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

const chunk = (frame: ChunkFrame, rest: Pick<ChatCompletionChunk, 'choices'> & Partial<ChatCompletionChunk>): ChatCompletionChunk => ({
  id: frame.id,
  object: 'chat.completion.chunk',
  created: frame.created,
  model: frame.model,
  ...rest,
});

export const deltaChunk = (frame: ChunkFrame, delta: ChatDelta): ChatCompletionChunk =>
  chunk(frame, { choices: [{ index: 0, delta, logprobs: null, finish_reason: null }] });

/** A tool call as clients receive it: with our id, by which its result is matched to the run, and which contains the signature of its model. */
export const calledTool = ({ id, call }: ClientToolCall): CalledTool => ({ ...call, id: signedId(id, call) }) as CalledTool;
type CalledTool = NonNullable<ChatCompletion['choices'][number]['message']['tool_calls']>[number];

/** The only terminal chunk. */
export const finishChunk = (frame: ChunkFrame, reason: FinishReason, facts?: AnswerFacts): ChatCompletionChunk =>
  chunk(frame, { choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: reason }], ...(facts ? { conclave: facts } : {}) });

export const usageChunk = (frame: ChunkFrame, usage: Usage): ChatCompletionChunk => chunk(frame, { choices: [], usage: chatUsage(usage) });

export const statusChunk = (frame: ChunkFrame, description: string, done: boolean): ChatCompletionChunk =>
  chunk(frame, { choices: [], event: { type: 'status', data: { description, done } } });

export const completion = (
  frame: ChunkFrame,
  answer: {
    readonly content: string | null;
    readonly calls?: readonly ClientToolCall[];
    readonly reasoning?: string;
    readonly annotations?: readonly UrlCitation[];
    readonly finish: FinishReason;
    readonly usage: Usage;
    readonly facts?: AnswerFacts;
  },
): ChatCompletion => ({
  id: frame.id,
  object: 'chat.completion',
  created: frame.created,
  model: frame.model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: answer.content,
        refusal: null,
        ...(answer.reasoning ? { reasoning_content: answer.reasoning } : {}),
        ...(answer.annotations && answer.annotations.length > 0 ? { annotations: [...answer.annotations] } : {}),
        ...(answer.calls ? { tool_calls: answer.calls.map(calledTool) } : {}),
      },
      logprobs: null,
      finish_reason: answer.finish,
    },
  ],
  usage: chatUsage(answer.usage),
  ...(answer.facts ? { conclave: answer.facts } : {}),
});

/** The sum over all hidden calls; text written by the gateway itself is not counted. */
export const chatUsage = (usage: Usage): ChatUsage => ({
  prompt_tokens: usage.prompt,
  completion_tokens: usage.completion,
  total_tokens: usage.prompt + usage.completion,
  completion_tokens_details: { reasoning_tokens: Math.min(usage.reasoning, usage.completion) },
});

/** Sources with an address, each at the first mark `[n]` that cites it, or else at the end of the answer. */
export const citations = (sources: readonly Source[], answer: string): readonly UrlCitation[] =>
  sources.flatMap((source, index): UrlCitation[] => {
    if (source.url === null) return [];
    const mark = `[${source.n ?? index + 1}]`;
    const at = answer.indexOf(mark);
    const [start, end] = at < 0 ? [answer.length, answer.length] : [at, at + mark.length];
    return [{ type: 'url_citation', url_citation: { url: source.url, title: source.title, start_index: start, end_index: end } }];
  });
