import * as z from 'zod';
import { Complexity } from '../values.js';

/**
 * Requests are parsed leniently: unknown fields are ignored, and null means absent. A known field of the wrong type is refused, because
 * guessing its meaning would change the answer.
 */
export const ContentPart = z.looseObject({
  type: z
    .string()
    .describe(
      '`text`, `image_url` (`image_url.url`: a data URL or an http(s) address), `file` (`file.filename`, `file.file_data`: a data URL); templates refuse other kinds, models get them unchanged',
    ),
  text: z.string().nullish(),
});
export type ContentPart = z.infer<typeof ContentPart>;

export const ChatMessage = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function'], {
    error: 'must be "system", "developer", "user", "assistant" or "tool"',
  }),
  content: z
    .union([z.string(), z.array(ContentPart)], { error: 'must be a text or a list of parts {"type":"text","text":"..."}' })
    .nullish()
    .describe('text, or a list of parts; images and files count in the last user message; null beside tool calls'),
  name: z.unknown().optional(),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

const positive = z.int({ error: 'must be a whole number above 0' }).positive({ error: 'must be a whole number above 0' });

/** Our own options; they can lower a limit of the template, never raise it. Equivalent headers: `x-conclave-rounds` and so on. */
export const ConclaveOptions = z.strictObject({
  rounds: z
    .int({ error: 'must be a whole number from 0' })
    .nonnegative({ error: 'must be a whole number from 0' })
    .nullish()
    .describe('maximum number of re-plans'),
  complexity: z
    .enum(Complexity.options, { error: 'must be "trivial", "moderate" or "complex"' })
    .nullish()
    .describe('how much work the question gets; absent or null: set by the template, or read from the question'),
  progress: z
    .enum(['reasoning', 'think', 'status', 'none'], { error: 'must be "reasoning", "think", "status" or "none"' })
    .nullish()
    .describe('how progress is shown on a stream'),
  detail: z
    .enum(['redacted', 'full'], { error: 'must be "redacted" or "full"' })
    .nullish()
    .describe(
      'full: the events of the run contain prompts and raw replies, for keys that may see them; the header `x-conclave-detail` does the same',
    ),
  cache: z
    .boolean({ error: 'must be true or false' })
    .nullish()
    .describe(
      'false: the answer neither comes from a cache nor is cached; the headers `cache-control: no-cache` and `x-conclave-cache: off` do the same',
    ),
  keep_alive_json: z
    .boolean({ error: 'must be true or false' })
    .nullish()
    .describe(
      'true: white space every ten seconds while an answer with `stream: false` is awaited; a failure after it resets the connection. The header `x-conclave-keep-alive-json: on` does the same; absent or null: `gateway.keep_alive_json`',
    ),
  webhook: z
    .string({ error: 'must be the name of a webhook' })
    .min(1, { error: 'must be the name of a webhook' })
    .nullish()
    .describe('configured webhook that is notified of the end of the run'),
  wall_time_s: z.number().positive().nullish().describe('seconds from acceptance to the end'),
  model_calls: positive.nullish().describe('maximum model calls'),
  prompt_tokens: positive.nullish().describe('maximum prompt tokens, summed over all calls'),
  tokens: positive.nullish().describe('maximum tokens, summed over all calls'),
  cost: z.number().positive().nullish().describe('maximum cost in currency units'),
  concurrent_tasks: positive.nullish().describe('maximum concurrent tasks'),
});
export type ConclaveOptions = z.infer<typeof ConclaveOptions>;

const replyLimit = z.union([z.literal(-1), positive], { error: 'must be a whole number above 0, or -1 for no limit' });

/** The end user behind a shared key. A value that is not a text is ignored. */
export const endUserFields = {
  user: z.unknown().optional().describe('names the end user behind a shared key; kept as a hash'),
  safety_identifier: z.unknown().optional().describe('newer name of `user`, over which it takes precedence'),
};

/** Client parameters that affect the final model call only. */
export const answerFields = {
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(16)], { error: 'must be a text or a list of at most 16 texts' }).nullish(),
  max_tokens: replyLimit.nullish(),
  max_completion_tokens: replyLimit.nullish().describe('takes precedence over max_tokens'),
  seed: z.int({ error: 'must be a whole number' }).nullish(),
  response_format: z
    .looseObject({ type: z.string() })
    .nullish()
    .describe(
      '`text`, `json_object`, or `json_schema` with a JSON Schema in `json_schema.schema`: then the answer matches it or is an error, unless `json_schema.strict` is false',
    ),
  reasoning_effort: z.string().nullish().describe('none and minimal: 0 re-plans, low: 1, medium: 2, high: as many as the template allows'),
  conclave: ConclaveOptions.nullish(),
};

const Tool = z
  .looseObject(
    { type: z.string({ error: 'must be a text, such as "function"' }) },
    { error: 'must be a tool {"type":"function","function":{"name":"..."}}' },
  )
  .superRefine((tool, context) => {
    if (tool.type !== 'function') return;
    const named = (tool['function'] as { name?: unknown } | null | undefined)?.name;
    if (typeof named !== 'string' || named === '')
      context.addIssue({ code: 'custom', message: 'must be a text', path: ['function', 'name'] });
  });

export const ChatCompletionRequest = z.object({
  model: z
    .string({ error: 'must be the id of a template or `model@provider`' })
    .min(1, { error: 'must be the id of a template or `model@provider`' }),
  messages: z.array(ChatMessage, { error: 'must be a list of messages' }).min(1, { error: 'must contain at least one message' }),
  stream: z.boolean({ error: 'must be true or false' }).nullish(),
  stream_options: z
    .object({ include_usage: z.boolean({ error: 'must be true or false' }).nullish() }, { error: 'must be an object' })
    .nullish(),
  n: z.int({ error: 'must be 1' }).nullish().describe('1; more answers per request are refused'),
  tools: z
    .array(Tool, { error: 'must be a list of tools' })
    .nullish()
    .describe('models (`model@provider`) get them unchanged, templates as their `client_tools` says'),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })], {
      error: 'must be "none", "auto", "required" or {"type":"function","function":{"name":"..."}}',
    })
    .nullish()
    .describe(
      'a template that ignores the tools of clients answers with a call of the only function that may be called, and refuses other requests in which a tool must be called',
    ),
  ...answerFields,
  ...endUserFields,
});
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

/** A request to `model@provider`: only the fields this gateway uses are parsed; the rest passes to the model server. */
export const PassedChatRequest = z.looseObject({
  model: ChatCompletionRequest.shape.model,
  messages: z
    .array(z.looseObject({ role: z.string({ error: 'must be a text' }) }, { error: 'must be a message' }), {
      error: 'must be a list of messages',
    })
    .min(1, { error: 'must contain at least one message' }),
  stream: ChatCompletionRequest.shape.stream,
  stream_options: z
    .looseObject({ include_usage: z.boolean({ error: 'must be true or false' }).nullish() }, { error: 'must be an object' })
    .nullish(),
  conclave: ConclaveOptions.nullish(),
});
export type PassedChatRequest = z.infer<typeof PassedChatRequest>;

export const ChatUsage = z.object({
  prompt_tokens: z.int().describe('prompt tokens summed over every hidden model call'),
  completion_tokens: z.int().describe('completion tokens summed over every hidden model call'),
  total_tokens: z.int(),
  completion_tokens_details: z.object({ reasoning_tokens: z.int() }),
});
export type ChatUsage = z.infer<typeof ChatUsage>;

export const UrlCitation = z.object({
  type: z.literal('url_citation'),
  url_citation: z.object({
    url: z.string(),
    title: z.string(),
    start_index: z.int().describe('characters before the mark `[n]` in the answer; the length of the answer if it has no such mark'),
    end_index: z.int(),
  }),
});
export type UrlCitation = z.infer<typeof UrlCitation>;

/** Facts about an answer, in addition to the fields that OpenAI clients know. */
export const AnswerFacts = z.object({
  run_id: z.string(),
  outcome: z
    .string()
    .describe('outcome of the run; `waiting`: the content is a question of the run, which the next message of the conversation answers'),
  rule: z.string().nullable().describe('row of the decision table that ended the run or asks the user'),
  reason: z.string().describe('why it stopped'),
  rounds: z.int(),
  calls: z.int().describe('model calls, failed ones too; after a question, those since its answer'),
  cost: z.number().describe('currency units; after a question, those since its answer'),
});
export type AnswerFacts = z.infer<typeof AnswerFacts>;

export const FinishReason = z.enum(['stop', 'length', 'content_filter', 'tool_calls']);
export type FinishReason = z.infer<typeof FinishReason>;

/** A call of a tool of the client. */
const CalledTool = z.looseObject({
  id: z.string().describe('id that the client sends with the result; identifies the run that waits for it'),
  type: z.string().describe('`function`'),
  function: z.looseObject({ name: z.string(), arguments: z.string().describe('JSON, as the model wrote it') }).optional(),
});

export const ChatCompletion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int().describe('seconds since 1970'),
  model: z.string().describe('as requested'),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string().nullable().describe('null beside calls of tools of the client'),
        refusal: z.null(),
        reasoning_content: z.string().optional(),
        annotations: z.array(UrlCitation).optional(),
        tool_calls: z.array(CalledTool).optional().describe('calls that the client makes to its own tools'),
      }),
      logprobs: z.null(),
      finish_reason: FinishReason,
    }),
  ),
  usage: ChatUsage,
  conclave: AnswerFacts.optional().describe('absent for a direct model'),
});
export type ChatCompletion = z.infer<typeof ChatCompletion>;

export const ChatDelta = z.object({
  role: z.literal('assistant').optional().describe('on the first chunk only'),
  content: z.string().optional(),
  reasoning_content: z.string().optional().describe('progress lines, or the thinking of a direct model'),
  annotations: z.array(UrlCitation).optional().describe('on the last content delta only'),
  tool_calls: z
    .array(CalledTool.extend({ index: z.int().nonnegative() }))
    .optional()
    .describe('calls that the client makes to its own tools'),
});
export type ChatDelta = z.infer<typeof ChatDelta>;

export const ChatCompletionChunk = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.string(),
  choices: z
    .array(z.object({ index: z.int(), delta: ChatDelta, logprobs: z.null(), finish_reason: FinishReason.nullable() }))
    .describe('empty on usage and status chunks'),
  usage: ChatUsage.optional().describe('last chunk before [DONE], only with stream_options.include_usage'),
  conclave: AnswerFacts.optional().describe('on the terminal chunk'),
  event: z
    .object({ type: z.literal('status'), data: z.object({ description: z.string(), done: z.boolean() }) })
    .optional()
    .describe('progress mode `status`: a line for Open WebUI'),
});
export type ChatCompletionChunk = z.infer<typeof ChatCompletionChunk>;
