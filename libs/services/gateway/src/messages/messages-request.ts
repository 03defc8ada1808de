import type { CountTokensRequest, MessageBlock, MessagesRequest } from '@conclave/contracts';
import { contentText, isJsonObject } from '@conclave/ports';
import { returnedContent } from '../attachments/content-parts.js';
import { type ChatFields, present } from '../chat/chat-fields.js';
import type { RequestHeaders } from '../chat/option-headers.js';
import { joined } from '../chat/turns.js';

type Loose = Readonly<Record<string, unknown>>;
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Whether progress, or the thinking of a direct model, is shown. */
export const wantsThinking = ({ thinking }: CountTokensRequest): boolean => thinking?.type === 'enabled' || thinking?.type === 'adaptive';

/** The request in the chat protocol. Progress is shown only when the request, an option or a header asks for it. */
export function chatOf(request: MessagesRequest, headers: RequestHeaders): ChatFields {
  const { messages, paths } = turnsOf(request);
  const chosen = request.conclave?.progress ?? headers['x-conclave-progress'];
  const progress = chosen ? {} : { progress: wantsThinking(request) ? 'reasoning' : 'none' };
  const { model, stream, max_tokens, temperature, top_p } = request;
  const body = present({
    ...{ model, messages, stream, max_tokens, temperature, top_p },
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    stop: request.stop_sequences,
    tools: request.tools?.map(toolOf),
    tool_choice: choiceOf(request.tool_choice),
    parallel_tool_calls: request.tool_choice?.['disable_parallel_tool_use'] === true && request.tools?.length ? false : undefined,
    conclave: { ...request.conclave, ...progress },
  });
  return { body, paths, names: { stop: 'stop_sequences', stream_options: 'stream' } };
}

/** The texts of a request and its images, for an estimate of its tokens. */
export const turnsOf = ({
  system,
  messages,
}: CountTokensRequest): { readonly messages: readonly Loose[]; readonly paths: readonly string[] } => {
  const instructions = contentText(system);
  const turns = messages.flatMap(({ role, content }, at) => turnOf(role, content).map((message) => ({ message, path: `messages[${at}]` })));
  const all = joined([...(instructions === '' ? [] : [{ message: { role: 'system', content: instructions }, path: 'system' }]), ...turns]);
  return { messages: all.map(({ message }) => message), paths: all.map(({ path }) => path) };
};

function turnOf(role: 'user' | 'assistant' | 'system', content: string | readonly MessageBlock[]): readonly Loose[] {
  if (role === 'system') return [{ role, content: contentText(content) }];
  return typeof content === 'string' ? [{ role, content }] : fromBlocks(role, content);
}

/** One message of blocks as chat messages: results of tools become messages of their own. */
function fromBlocks(role: 'user' | 'assistant', blocks: readonly MessageBlock[]): readonly Loose[] {
  const results = blocks.filter(({ type }) => type === 'tool_result').map(resultOf);
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(callOf);
  const parts = blocks.filter(({ type }) => !apart.has(type)).map(partOf);
  const content = parts.every(({ type }) => type === 'text') && parts.length === 1 ? parts[0]!['text'] : parts;
  if (role === 'assistant' && calls.length > 0)
    return [...results, { role, content: parts.length > 0 ? content : null, tool_calls: calls }];
  return [...results, ...(parts.length > 0 || results.length === 0 ? [{ role, content }] : [])];
}

/** Blocks that do not become content of a chat message. */
const apart: ReadonlySet<string> = new Set(['tool_result', 'tool_use', 'thinking', 'redacted_thinking']);

/** A block as a part of a chat message; an unknown one is passed on unchanged and refused like any unknown part. */
function partOf(block: MessageBlock): Loose {
  const source = isJsonObject(block['source']) ? block['source'] : {};
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text ?? '' };
    case 'image':
      return { type: 'image_url', image_url: { url: addressOf(source) } };
    case 'document':
      return { type: 'file', file: { filename: textIn(block['title']) || 'document', file_data: addressOf(source) } };
    default:
      return block;
  }
}

/** The address of a source, or its bytes as a data URL. */
function addressOf({ type, url, media_type: media, data }: Loose): string {
  if (type === 'url') return textIn(url);
  const body = type === 'text' ? Buffer.from(textIn(data)).toString('base64') : textIn(data);
  return `data:${textIn(media)};base64,${body}`;
}

const callOf = ({ id, name, input }: MessageBlock): Loose => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input ?? {}) },
});

const resultOf = ({ tool_use_id: id, content }: MessageBlock): Loose => ({ role: 'tool', tool_call_id: id, content: returned(content) });

const returned = (content: unknown): unknown =>
  Array.isArray(content) ? returnedContent(content.filter(isJsonObject).map((block) => partOf(block as MessageBlock))) : textIn(content);

const toolOf = ({ name, description, input_schema: parameters }: Loose): Loose => ({
  type: 'function',
  function: present({ name, description, parameters }),
});

function choiceOf(choice: MessagesRequest['tool_choice']): unknown {
  switch (choice?.type) {
    case 'any':
      return 'required';
    case 'tool':
      return { type: 'function', function: { name: choice['name'] } };
    default:
      return choice?.type;
  }
}
