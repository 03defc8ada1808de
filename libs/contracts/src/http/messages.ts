import * as z from 'zod';
import { AnswerFacts, ChatCompletionRequest, ConclaveOptions } from './chat.js';

/** The part of Anthropic's Messages API that clients use. Parsed as leniently as the chat API. */
const Block = z.looseObject({
  type: z
    .string({ error: 'must be a text' })
    .describe('`text`, `image`, `document`, `tool_use`, `tool_result`; thinking of earlier answers is left out'),
  text: z.string({ error: 'must be a text' }).nullish(),
});
export type MessageBlock = z.infer<typeof Block>;

const Message = z.object({
  role: z
    .enum(['user', 'assistant', 'system'], { error: 'must be "user", "assistant" or "system"' })
    .describe('`system`: instructions that apply from there on; those before the first turn belong into `system` of the request'),
  content: z.union([z.string(), z.array(Block)], { error: 'must be a text or a list of blocks {"type":"text","text":"..."}' }),
});

const askedFields = {
  model: ChatCompletionRequest.shape.model,
  messages: z.array(Message, { error: 'must be a list of messages' }).min(1, { error: 'must contain at least one message' }),
  system: z
    .union([z.string(), z.array(Block)], { error: 'must be a text or a list of blocks {"type":"text","text":"..."}' })
    .nullish()
    .describe('instructions'),
  tools: z
    .array(
      z.looseObject({ name: z.string({ error: 'must be a text' }).min(1, { error: 'must not be empty' }) }, { error: 'must be a tool' }),
      {
        error: 'must be a list of tools',
      },
    )
    .nullish()
    .describe('templates ignore the tools of a client; models (`model@provider`) get them'),
  tool_choice: z
    .looseObject({ type: z.enum(['auto', 'any', 'tool', 'none'], { error: 'must be "auto", "any", "tool" or "none"' }) })
    .nullish()
    .describe('templates refuse a request in which a tool must be called'),
  thinking: z
    .looseObject({ type: z.string({ error: 'must be a text' }) })
    .nullish()
    .describe('`enabled` or `adaptive`: progress is shown as thinking blocks'),
};

export const MessagesRequest = z.object({
  ...askedFields,
  max_tokens: z
    .int({ error: 'must be a whole number above 0' })
    .positive({ error: 'must be a whole number above 0' })
    .describe('maximum tokens of the answer; the calls before it have the limits of the template'),
  stream: ChatCompletionRequest.shape.stream,
  temperature: ChatCompletionRequest.shape.temperature,
  top_p: ChatCompletionRequest.shape.top_p,
  stop_sequences: z.array(z.string(), { error: 'must be a list of texts' }).max(16, { error: 'must contain at most 16 texts' }).nullish(),
  metadata: z.unknown().optional().describe('its `user_id` names the end user behind a shared key'),
  conclave: ConclaveOptions.nullish(),
});
export type MessagesRequest = z.infer<typeof MessagesRequest>;

export const CountTokensRequest = z.object(askedFields);
export type CountTokensRequest = z.infer<typeof CountTokensRequest>;
export const CountedTokens = z.object({
  input_tokens: z.int().describe('estimate for one prompt with these messages; a run makes several calls'),
});
export type CountedTokens = z.infer<typeof CountedTokens>;

export const MessageUsage = z.object({
  input_tokens: z.int().describe('prompt tokens summed over every hidden model call'),
  output_tokens: z.int().describe('completion tokens summed over every hidden model call'),
  cache_creation_input_tokens: z.int(),
  cache_read_input_tokens: z.int(),
});
export type MessageUsage = z.infer<typeof MessageUsage>;

export const StopReason = z.enum(['end_turn', 'max_tokens', 'tool_use', 'refusal']);
export type StopReason = z.infer<typeof StopReason>;

export const AnsweredBlock = z.union([
  z.object({ type: z.literal('text'), text: z.string(), citations: z.null() }),
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().describe('empty: nothing to verify') }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) }),
]);
export type AnsweredBlock = z.infer<typeof AnsweredBlock>;

export const MessageAnswer = z.object({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string().describe('as requested'),
  content: z.array(AnsweredBlock),
  stop_reason: StopReason.nullable(),
  stop_sequence: z.null(),
  usage: MessageUsage,
  conclave: AnswerFacts.optional().describe('absent for a direct model'),
});
export type MessageAnswer = z.infer<typeof MessageAnswer>;

/** Anthropic's error shape, on its routes and in its streams. */
export const MessagesError = z.object({
  type: z.literal('error'),
  error: z.object({
    type: z.string().describe('class of the failure, as Anthropic clients know it'),
    message: z.string().describe('what happened and what to do, for people'),
    code: z.string().nullable().describe('code, as in the errors of the other routes'),
  }),
  request_id: z.string().nullable().describe('`x-request-id` of the response'),
});
export type MessagesError = z.infer<typeof MessagesError>;

const at = { index: z.int() };
export const MessageEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: MessageAnswer }),
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('content_block_start'), ...at, content_block: AnsweredBlock }),
  z.object({
    type: z.literal('content_block_delta'),
    ...at,
    delta: z.union([
      z.object({ type: z.literal('text_delta'), text: z.string() }),
      z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
      z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
    ]),
  }),
  z.object({ type: z.literal('content_block_stop'), ...at }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: StopReason, stop_sequence: z.null() }),
    usage: MessageUsage.describe('usage of the whole message; that of `message_start` is an estimate'),
    conclave: AnswerFacts.optional(),
  }),
  z.object({ type: z.literal('message_stop') }),
  MessagesError,
]);
export type MessageEvent = z.infer<typeof MessageEvent>;
