import type { ModelReply } from '@conclave/ports';

/** Why a reply ended, in the words of OpenAI and of other servers, in lower case. */
const meanings: Readonly<Record<string, ModelReply['finishReason']>> = {
  stop: 'stop',
  eos: 'stop', // Together
  eos_token: 'stop', // TGI
  end_turn: 'stop', // Anthropic
  stop_sequence: 'stop', // Anthropic, TGI
  complete: 'stop', // Cohere
  finished: 'stop', // Bedrock
  length: 'length',
  max_tokens: 'length', // Anthropic, Cohere, Gemini
  model_length: 'length', // Mistral
  model_context_window_exceeded: 'length', // Anthropic, Zhipu
  content_filter: 'content_filter',
  content_filtered: 'content_filter', // Bedrock
  guardrail_intervened: 'content_filter', // Bedrock
  refusal: 'content_filter', // Anthropic
  safety: 'content_filter', // Gemini
  recitation: 'content_filter', // Gemini
  sensitive: 'content_filter', // Zhipu
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls', // Cohere
  function_call: 'tool_calls',
  tool_use: 'tool_calls', // Anthropic
};

export const finishOf = (reason: string): ModelReply['finishReason'] => meanings[reason.toLowerCase()] ?? 'unknown';

/** Ends that are failures of the server: OpenRouter and vLLM; vLLM and SGLang; DeepSeek without capacity; Zhipu. */
const failures = new Set(['error', 'abort', 'insufficient_system_resource', 'network_error']);

export const isFailure = (reason: unknown): reason is string => typeof reason === 'string' && failures.has(reason.toLowerCase());

const openAis = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/**
 * The finish reason as OpenAI writes it. `called`: the reply has calls of tools, for which agents look only behind `tool_calls`, while Gemini
 * writes `stop` at the end of its streams. Null for an empty one; a reason of unknown meaning stays.
 */
export function inOpenAisWords(reason: string, called: boolean): string | null {
  if (reason === '') return null;
  const meaning = finishOf(reason);
  const written = openAis.has(reason) || meaning === 'unknown' ? reason : meaning;
  return written === 'stop' && called ? 'tool_calls' : written;
}
