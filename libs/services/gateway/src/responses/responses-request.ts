import { Failure, type ResponseInputItem, type ResponseRequest } from '@conclave/contracts';
import { isJsonObject } from '@conclave/ports';
import { returnedContent } from '../attachments/content-parts.js';
import { type ChatFields, present } from '../chat/chat-fields.js';
import type { RequestHeaders } from '../chat/option-headers.js';
import { joined } from '../chat/turns.js';
import { chatName, functionsOf } from './namespaced-tools.js';

export type Loose = Readonly<Record<string, unknown>>;
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Items of the input; a plain text is one user message. */
export const itemsOf = ({ input }: Pick<ResponseRequest, 'input'>): readonly ResponseInputItem[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;

/** Throws REQUEST_INVALID for what this API cannot do. */
export function checkPossible({ conversation, prompt, background, store }: ResponseRequest): void {
  const refusals: readonly (readonly [unknown, string, string])[] = [
    [conversation ?? null, 'conversation', 'Conversations are not stored here: send `previous_response_id` instead.'],
    [prompt ?? null, 'prompt', 'Prompts are not stored for this API: write the text into `instructions`.'],
    [
      background && store === false ? true : null,
      'store',
      'A response in the background is read later: leave out `store` or set it to true.',
    ],
  ];
  const refused = refusals.find(([value]) => value !== null);
  if (refused) throw new Failure('REQUEST_INVALID', refused[2], { param: refused[1] });
}

/** The request in the chat protocol; `earlier`: messages of the response that it follows. Throws REQUEST_INVALID. */
export function chatOf(request: ResponseRequest, earlier: readonly Loose[], headers: RequestHeaders): ChatFields {
  const { instructions, reasoning, text } = request;
  const chosen = request.conclave?.progress ?? headers['x-conclave-progress'];
  const turns = joined([
    ...(instructions ? [{ message: { role: 'system', content: instructions }, path: 'instructions' }] : []),
    ...earlier.map((message) => ({ message, path: 'previous_response_id' })),
    ...itemsOf(request).flatMap((item, at) => messageOf(item, at).map((message) => ({ message, path: `input[${at}]` }))),
  ]);
  const { choice, allowed } = chosenIn(request.tool_choice);
  const tools = functionsOf(request.tools)
    .filter(({ tool: { name }, namespace }) => !allowed || allowed.has(chatName(name, namespace)))
    .map(toolOf);
  const { model, stream, temperature, top_p, user, safety_identifier } = request;
  const body = present({
    ...{ model, stream, temperature, top_p, user, safety_identifier },
    messages: turns.map(({ message }) => message),
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    max_tokens: request.max_output_tokens,
    reasoning_effort: reasoning?.effort,
    response_format: text?.format ? formatOf(text.format) : undefined,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length === 0 && (choice === 'auto' || choice === 'none') ? undefined : choiceOf(choice),
    parallel_tool_calls: tools.length > 0 ? request.parallel_tool_calls : undefined,
    conclave: { ...request.conclave, ...(chosen ? {} : { progress: reasoning?.summary ? 'reasoning' : 'none' }) },
  });
  const names = {
    messages: 'input',
    max_tokens: 'max_output_tokens',
    reasoning_effort: 'reasoning.effort',
    response_format: 'text.format',
    stream_options: 'stream',
  };
  return { body, paths: turns.map(({ path }) => path), names };
}

/** One item as chat messages. */
function messageOf(item: ResponseInputItem, at: number): readonly Loose[] {
  switch (item.type ?? 'message') {
    case 'message':
      return [{ role: roleOf(item.role), content: contentOf(item.content) }];
    case 'function_call': {
      const call = {
        id: item['call_id'],
        type: 'function',
        function: { name: chatName(item['name'], item['namespace']), arguments: item['arguments'] },
      };
      return [{ role: 'assistant', content: null, tool_calls: [call] }];
    }
    case 'function_call_output':
      return [{ role: 'tool', tool_call_id: item['call_id'], content: outputOf(item['output']) }];
    case 'reasoning':
      return [];
    default:
      throw new Failure(
        'REQUEST_INVALID',
        'Items may be `message`, `function_call`, `function_call_output`, `reasoning`, or an `item_reference` to one of these.',
        { param: `input[${at}].type` },
      );
  }
}

/** Servers that know only texts accept a single text, which SDKs send as a part. */
function contentOf(content: ResponseInputItem['content']): unknown {
  if (typeof content === 'string') return content;
  const parts = (content ?? []).map(partOf);
  return parts.length === 1 && parts[0]!['type'] === 'text' ? parts[0]!['text'] : parts;
}

/** Only OpenAI's own models know the role `developer`. */
const roleOf = (role: ResponseInputItem['role']): string => (role === 'developer' ? 'system' : (role ?? 'user'));

const outputOf = (output: unknown): unknown =>
  Array.isArray(output) ? returnedContent(output.filter(isJsonObject).map(partOf)) : textIn(output);

/** A part as a part of a chat message; an unknown one is passed on unchanged and refused like any unknown part. */
function partOf(part: Loose): Loose {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: textIn(part['text']) };
    case 'input_image':
      return { type: 'image_url', image_url: present({ url: part['image_url'], detail: part['detail'] }) };
    case 'input_file':
      return {
        type: 'file',
        file: present({ filename: part['filename'], file_data: part['file_data'] ?? part['file_url'], file_id: part['file_id'] }),
      };
    default:
      return part;
  }
}

/** `{type, name, schema, strict}` is nested one level deeper in the chat protocol. */
export function formatOf({ type, ...rest }: Loose): Loose {
  return type === 'json_schema' ? { type, json_schema: present(rest) } : { type };
}

const toolOf = ({ tool: { type, name, ...rest }, namespace }: ReturnType<typeof functionsOf>[number]): Loose => ({
  type,
  function: present({ name: chatName(name, namespace), ...rest }),
});

/** The tool choice of a request. If it allows only some tools, these become its only tools, because few servers support such a restriction. */
function chosenIn(choice: ResponseRequest['tool_choice']): {
  readonly choice: ResponseRequest['tool_choice'];
  readonly allowed: ReadonlySet<unknown> | null;
} {
  if (!isJsonObject(choice) || choice['type'] !== 'allowed_tools' || !Array.isArray(choice['tools'])) return { choice, allowed: null };
  const allowed = new Set(choice['tools'].filter(isJsonObject).map(({ name, namespace }) => chatName(name, namespace)));
  return { choice: choice['mode'] === 'required' ? 'required' : 'auto', allowed };
}

const choiceOf = (choice: ResponseRequest['tool_choice']): unknown =>
  isJsonObject(choice) && choice.type === 'function'
    ? { type: 'function', function: { name: chatName(choice['name'], choice['namespace']) } }
    : choice;
