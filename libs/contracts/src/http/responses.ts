import * as z from 'zod';
import { only } from '../json-schema.js';
import { AnswerFacts, ChatCompletionRequest, ConclaveOptions, endUserFields } from './chat.js';

/** The part of OpenAI's Responses API that clients use. Parsed as leniently as the chat API. */
const InputItem = z
  .looseObject({
    type: z
      .string({ error: 'must be a text' })
      .meta({ enum: ['message', 'function_call', 'function_call_output', 'item_reference', 'reasoning'] })
      .nullish()
      .describe('`message` by default; `item_reference` names an earlier item by its `id`; `reasoning` is left out'),
    role: z.enum(['user', 'assistant', 'system', 'developer'], { error: 'must be "user", "assistant", "system" or "developer"' }).nullish(),
    content: z
      .union([z.string(), z.array(z.looseObject({ type: z.string({ error: 'must be a text' }) }))], {
        error: 'must be a text or a list of parts {"type":"input_text","text":"..."}',
      })
      .nullish(),
  })
  .meta({
    if: { properties: { type: { const: 'item_reference' } }, required: ['type'] },
    then: { properties: { id: { type: 'string' } }, required: ['id'] },
  });
export type ResponseInputItem = z.infer<typeof InputItem>;

const { model, stream, temperature, top_p } = ChatCompletionRequest.shape;
const Metadata = z.record(z.string(), z.string(), { error: 'must be an object of texts' });

export const ResponseRequest = z.object({
  ...{ model, stream, temperature, top_p },
  input: z
    .union([z.string(), z.array(InputItem).min(1, { error: 'must contain at least one item' })], {
      error: 'must be a text or a list of items {"role":"user","content":"..."}',
    })
    .describe('the question, or items of a conversation that ends with it'),
  instructions: z.string({ error: 'must be a text' }).nullish().describe('instructions for this response only, not for later ones'),
  previous_response_id: z
    .string({ error: 'must be a text' })
    .nullish()
    .describe('a stored response whose conversation this request continues'),
  store: z.boolean({ error: 'must be true or false' }).nullish().describe('false: the response cannot be read or followed later'),
  background: z
    .boolean({ error: 'must be true or false' })
    .nullish()
    .describe('true: answers at once with a response in progress, whose run outlives its client'),
  max_output_tokens: ChatCompletionRequest.shape.max_tokens,
  reasoning: z
    .looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }, { error: 'must be an object' })
    .nullish()
    .describe('`effort` as in the chat API; with a `summary`, progress is shown as a reasoning item'),
  text: z
    .looseObject({ format: z.looseObject({ type: z.string({ error: 'must be a text' }) }).nullish() }, { error: 'must be an object' })
    .nullish()
    .describe('`format` as `response_format` in the chat API'),
  tools: z
    .array(z.looseObject({ type: z.string({ error: 'must be a text' }) }, { error: 'must be a tool' }), {
      error: 'must be a list of tools',
    })
    .nullish()
    .describe(
      'functions, also those inside tools of the type `namespace`; templates ignore the tools of a client unless `client_tools` says otherwise, models (`model@provider`) get them',
    ),
  tool_choice: ChatCompletionRequest.shape.tool_choice,
  parallel_tool_calls: z.boolean({ error: 'must be true or false' }).nullish().describe('whether one answer may call several tools'),
  metadata: Metadata.nullish(),
  conversation: only().describe('anything but null is refused: use `previous_response_id`'),
  prompt: only().describe('anything but null is refused: write the prompt into `instructions`'),
  conclave: ConclaveOptions.nullish(),
  ...endUserFields,
});
export type ResponseRequest = z.infer<typeof ResponseRequest>;

export const ResponseText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(
    z.object({ type: z.literal('url_citation'), url: z.string(), title: z.string(), start_index: z.int(), end_index: z.int() }),
  ),
  logprobs: z.array(z.never()),
});
export type ResponseText = z.infer<typeof ResponseText>;

const Summary = z.object({ type: z.literal('summary_text'), text: z.string() });
const ItemStatus = z.enum(['in_progress', 'completed', 'incomplete']);
export const ResponseItem = z.union([
  z.object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    status: ItemStatus,
    content: z.array(ResponseText),
  }),
  z.object({ id: z.string(), type: z.literal('reasoning'), summary: z.array(Summary) }),
  z.object({
    id: z.string(),
    type: z.literal('function_call'),
    call_id: z.string(),
    name: z.string(),
    namespace: z.string().optional().describe('if the function belongs to a tool of the type `namespace`'),
    arguments: z.string(),
    status: ItemStatus,
  }),
]);
export type ResponseItem = z.infer<typeof ResponseItem>;

export const ResponseUsage = z.object({
  input_tokens: z.int().describe('prompt tokens summed over every hidden model call'),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int().describe('completion tokens summed over every hidden model call'),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});
export type ResponseUsage = z.infer<typeof ResponseUsage>;

export const ResponseStatus = z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']);
export type ResponseStatus = z.infer<typeof ResponseStatus>;

export const ResponseObject = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int().describe('seconds since 1970'),
  completed_at: z.int().nullable().describe('seconds since 1970; null unless the status is `completed`'),
  status: ResponseStatus,
  background: z.boolean(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  model: z.string().describe('as requested'),
  output: z.array(ResponseItem),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.string().nullable(),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }),
  store: z.boolean(),
  temperature: z.number().describe('as requested, otherwise the default of the API'),
  text: z.object({ format: z.looseObject({ type: z.string() }) }),
  tool_choice: z.unknown(),
  tools: z.array(z.unknown()),
  top_p: z.number().describe('as requested, otherwise the default of the API'),
  presence_penalty: z.literal(0),
  frequency_penalty: z.literal(0),
  top_logprobs: z.literal(0),
  max_tool_calls: z.null(),
  service_tier: z.literal('default'),
  safety_identifier: z.null(),
  prompt_cache_key: z.null(),
  truncation: z.literal('disabled'),
  usage: ResponseUsage.nullable(),
  user: z.null(),
  metadata: Metadata,
  conclave: AnswerFacts.optional().describe('once the run has ended; absent for a direct model'),
});
export type ResponseObject = z.infer<typeof ResponseObject>;

export const ResponseItemList = z.object({
  object: z.literal('list'),
  data: z.array(z.looseObject({ id: z.string(), type: z.string() })).describe('input items, with marks in place of images and files'),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
export type ResponseItemList = z.infer<typeof ResponseItemList>;
export const ResponseDeleted = z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) });
export type ResponseDeleted = z.infer<typeof ResponseDeleted>;

export const ResponseEvent = z
  .looseObject({
    type: z.enum([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.annotation.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
      'response.incomplete',
      'response.failed',
    ]),
    sequence_number: z.int().describe('from 0, without gaps'),
    response: ResponseObject.optional().describe('on the first two events and on the last'),
    output_index: z.int().optional().describe('index of the item in `output`'),
    item: ResponseItem.optional(),
    delta: z.string().optional(),
    text: z.string().optional(),
  })
  .describe('further members as in the API of OpenAI');
export type ResponseEvent = z.infer<typeof ResponseEvent>;
