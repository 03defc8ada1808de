import {
  type AnswerFacts,
  errorBody,
  type Failure,
  type ResponseItem,
  type ResponseObject,
  type ResponseRequest,
  type ResponseStatus,
  type ResponseText,
  type ResponseUsage,
  type UrlCitation,
} from '@conclave/contracts';
import { isJsonObject } from '@conclave/ports';
import type { ChunkFrame } from '../chat/chat-shapes.js';

/** The fields of its request that a response repeats, and its id. */
export type ResponseHead = Omit<
  ResponseObject,
  'completed_at' | 'status' | 'output' | 'usage' | 'error' | 'incomplete_details' | 'conclave'
>;

/** Members of a tool that the Open Responses specification requires in a response. */
const unsetOfTool = { description: null, parameters: null, strict: null };

export const headOf = (request: ResponseRequest, { id, created, model }: ChunkFrame): ResponseHead => ({
  id,
  object: 'response',
  created_at: created,
  background: request.background ?? false,
  instructions: request.instructions ?? null,
  max_output_tokens: request.max_output_tokens ?? null,
  model,
  parallel_tool_calls: request.parallel_tool_calls ?? true,
  previous_response_id: request.previous_response_id ?? null,
  reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
  store: request.store ?? true,
  temperature: request.temperature ?? 1,
  text: { format: request.text?.format ?? { type: 'text' } },
  tool_choice: request.tool_choice ?? 'auto',
  tools: (request.tools ?? []).map((tool) => (tool.type === 'function' ? { ...unsetOfTool, ...tool } : tool)),
  top_p: request.top_p ?? 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  max_tool_calls: null,
  service_tier: 'default',
  // The ids of end users are stored nowhere.
  safety_identifier: null,
  prompt_cache_key: null,
  truncation: 'disabled',
  user: null,
  metadata: request.metadata ?? {},
});

/** The progress of a response. */
export interface ResponseEnd {
  readonly status: ResponseStatus;
  /** Milliseconds since 1970 at the end of a completed response. */
  readonly completedAt?: number | null | undefined;
  readonly output: readonly ResponseItem[];
  readonly usage: ResponseUsage | null;
  /** Whether a filter of the model server ended an incomplete answer; otherwise its length limit did. */
  readonly filtered?: boolean | undefined;
  readonly failure?: Pick<Failure, 'message'> & { readonly code: string };
  readonly facts?: AnswerFacts | undefined;
}

export const responseOf = (
  head: ResponseHead,
  { status, completedAt, output, usage, filtered, failure, facts }: ResponseEnd,
): ResponseObject => ({
  ...head,
  completed_at: status === 'completed' && typeof completedAt === 'number' ? Math.floor(completedAt / 1000) : null,
  status,
  error: failure ? { code: failure.code, message: failure.message } : null,
  incomplete_details: status === 'incomplete' ? { reason: filtered ? 'content_filter' : 'max_output_tokens' } : null,
  output: [...output],
  usage,
  ...(facts ? { conclave: facts } : {}),
});

/** How an answer ended, by the finish reason of the chat protocol. */
export function endingOf(finish: unknown): Pick<ResponseEnd, 'filtered'> & { readonly status: 'completed' | 'incomplete' } {
  if (finish === 'content_filter') return { status: 'incomplete', filtered: true };
  return { status: finish === 'length' ? 'incomplete' : 'completed' };
}

/** A failure with the sentence that every other API uses. */
export const failureIn = (failure: Failure): NonNullable<ResponseEnd['failure']> => {
  const { message, code } = errorBody(failure).error;
  return { message, code: code ?? failure.code };
};

/** The part of a response's id after its prefix, from which the ids of its items are made. */
export const suffixOf = (id: string): string => id.slice('resp_'.length);

export const textPart = (text: string, citations: readonly UrlCitation[]): ResponseText => ({
  type: 'output_text',
  text,
  annotations: citations.map(({ url_citation: at }) => ({ type: 'url_citation', ...at })),
  logprobs: [],
});

export const messageItem = (
  id: string,
  status: 'in_progress' | 'completed' | 'incomplete',
  content: readonly ResponseText[],
): ResponseItem => ({
  id: `msg_${suffixOf(id)}`,
  type: 'message',
  role: 'assistant',
  status,
  content: [...content],
});

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Usage of a chat answer under this API's names; null when there is none. */
export function usageOf(usage: unknown): ResponseUsage | null {
  if (!isJsonObject(usage)) return null;
  const details = isJsonObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {};
  const prompt = isJsonObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const [input, output] = [count(usage['prompt_tokens']), count(usage['completion_tokens'])];
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: count(prompt['cached_tokens']) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: count(details['reasoning_tokens']) },
    total_tokens: input + output,
  };
}
