import type { JsonObject, ModelCall } from '@conclave/ports';
import type { UpstreamError } from './error-body.js';
import { hasLaterInstructions, refusesLaterInstructions, withOneSystemMessage } from './system-messages.js';
import { hasToolFiles, hasToolFilesApart, refusesFiles, withoutToolFiles, withToolFilesApart } from './tool-files.js';

/** Something left out of a request, or expressed differently, because a server refused it. */
export type Concession =
  | 'no stream'
  | 'no usage option'
  | 'max_completion_tokens'
  | 'no response_format'
  | 'json_object for a wished json_schema'
  | 'no wished response_format'
  | 'no temperature'
  | 'no top_p'
  | 'no seed'
  | 'no stop'
  | 'one system message'
  | 'no files of tools'
  | 'no parallel_tool_calls';

export type Concessions = ReadonlySet<Concession>;

/** Body of POST /chat/completions. */
export interface CompletionBody {
  readonly model: string;
  readonly stream: boolean;
  readonly [parameter: string]: unknown;
}

export function bodyOf(call: ModelCall, model: string, made: Concessions): CompletionBody {
  const stream = !made.has('no stream');
  const given = <T>(name: string, value: T | undefined, refused: Concession): Record<string, T> =>
    value === undefined || made.has(refused) ? {} : { [name]: value };
  return {
    model,
    messages: messagesFor(
      call.messages.map(({ role, content, parts }) => ({ role, content: parts ?? content })),
      made,
    ),
    stream,
    ...(stream && !made.has('no usage option') ? { stream_options: { include_usage: true } } : {}),
    ...(call.maxTokens === undefined
      ? {}
      : { [made.has('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens']: call.maxTokens }),
    ...given('response_format', call.responseFormat, 'no response_format'),
    ...(formatIsOptional(call) ? given('response_format', preferred(call, made), 'no wished response_format') : {}),
    ...given('temperature', call.temperature, 'no temperature'),
    ...given('top_p', call.topP, 'no top_p'),
    ...given('seed', call.seed, 'no seed'),
    ...given('stop', call.stop, 'no stop'),
  };
}

function messagesFor(messages: unknown, made: Concessions): unknown {
  const files = made.has('no files of tools') ? withoutToolFiles : withToolFilesApart;
  const shown = hasToolFiles(messages) ? files(messages) : messages;
  return made.has('one system message') && hasLaterInstructions(shown) ? withOneSystemMessage(shown) : shown;
}

/** Whether the call can do without its reply format. */
export const formatIsOptional = (call: ModelCall): boolean => call.responseFormat === undefined && call.wishedFormat !== undefined;

/** OpenAI and DeepSeek refuse `json_object` unless a message contains the word: such a call is made without a format. */
function preferred({ wishedFormat: format, messages }: ModelCall, made: Concessions) {
  if (format?.['type'] !== 'json_schema' || !made.has('json_object for a wished json_schema')) return format;
  return messages.some(({ content }) => /json/i.test(content)) ? { type: 'json_object' } : undefined;
}

/** The client's own body with the server's model name, and files of tool results where servers read them. Always requests usage of a stream, for accounting. */
export function passedBody(body: JsonObject, model: string, made: Concessions): CompletionBody {
  const stream = body['stream'] === true;
  const options = body['stream_options'] as JsonObject | null | undefined;
  const asked = stream && (options || !made.has('no usage option'));
  const { parallel_tool_calls: parallel, ...rest } = body;
  const calls = parallel === undefined || made.has('no parallel_tool_calls') ? {} : { parallel_tool_calls: parallel };
  const messages = 'messages' in body ? { messages: messagesFor(body['messages'], made) } : {};
  return { ...rest, ...calls, ...messages, model, stream, ...(asked ? { stream_options: { ...options, include_usage: true } } : {}) };
}

const candidates: readonly (readonly [name: string, parameter: string, concession: Concession])[] = [
  ['stream_options', 'stream_options', 'no usage option'],
  ['include_usage', 'stream_options', 'no usage option'],
  ['max_tokens', 'max_tokens', 'max_completion_tokens'],
  ['response_format', 'response_format', 'no response_format'],
  ['temperature', 'temperature', 'no temperature'],
  ['top_p', 'top_p', 'no top_p'],
  ['seed', 'seed', 'no seed'],
  ['stop', 'stop', 'no stop'],
  ['stream', 'stream', 'no stream'],
  ['parallel_tool_calls', 'parallel_tool_calls', 'no parallel_tool_calls'],
];

/** Codes and types that mean an unsupported parameter. Known only from OpenAI. */
const unsupportedCode = /^(?:unsupported_(?:parameter|value)|unknown_parameter|extra_forbidden)$/;

/**
 * Whether a plain sentence says that the server does not know the parameter `name`. Complaints about a value (“must be”, “invalid”) are
 * the fault of one call, not a property of the model.
 */
function saysUnsupported(message: string, name: string): boolean {
  const quoted = `['"\u0060\u2018\u2019\u201c\u201d]?${name}(?:\\.\\w+)?['"\u0060\u2018\u2019\u201c\u201d]?`;
  const noun =
    '(?:(?:request |input )?(?:parameters?|arguments?|fields?|options?|keywords?|properties|property|inputs?|values?)\\b[^.:\n]{0,30}?:?\\s*)?';
  const not =
    "(?:is|are) (?:not (?:yet )?(?:supported|permitted|allowed|implemented|available|recognized)|unsupported|deprecated|unavailable|disabled)|(?:isn't|aren't) supported";
  return [
    `\\b(?:unsupported|unknown|unrecognized|unexpected|extra) ${noun}${quoted}(?![\\w.])`,
    `\\binputs? (?:is|are) not permitted: ${quoted}(?![\\w.])`,
    `(?:^|[^\\w.])${quoted}(?: [\\w'"-]+){0,3} (?:${not})`,
    `\\b(?:does not|doesn't|do not|cannot|can't) (?:yet )?support (?:the )?${noun}${quoted}(?![\\w.])`,
    `\\buse ${quoted.replace(name, 'max_completion_tokens')} instead`,
  ].some((pattern, at) => (at < 4 || name === 'max_tokens') && new RegExp(pattern, 'iu').test(message));
}

/** OpenAI's message for an account that may not stream. */
const mayNotStream = /must be verified to stream/i;
/** A server that does not know a response format type. This is a property of the server, not a fault of the call. */
const typeUnknown = /response_format['"\u0060]?(?:\.type|\s+type)['"\u0060]?\s+(?:must be|is unavailable)/i;

/** Server messages about the reply format, including schemas it cannot follow. */
const speaksOfFormat = /response[_ ]?(?:format|schema)|json[_ ]?(?:schema|object|mode)|structured[_ ]?output|guided|grammar/i;

/**
 * What to change so that the server accepts the call, or null. Only a parameter that the call contained and the server calls unsupported
 * (400, 404, 405, 422, 500, 501) is left out, each once. An optional format (`isOptional`) changes after any complaint about formats: a
 * schema becomes `json_object`, and `json_object` is left out.
 */
export function concessionFor(
  status: number | null,
  said: UpstreamError,
  body: CompletionBody,
  made: Concessions,
  isOptional = false,
): Concession | null {
  if (status === null || ![400, 404, 405, 422, 500, 501].includes(status)) return null;
  if (!made.has('one system message') && hasLaterInstructions(body['messages']) && refusesLaterInstructions(said.message))
    return 'one system message';
  if (!made.has('no files of tools') && hasToolFilesApart(body['messages']) && refusesFiles(said.message)) return 'no files of tools';
  const format = body['response_format'] as JsonObject | undefined;
  if (isOptional && format !== undefined && [said.param, said.message.slice(0, 400)].some((words) => speaksOfFormat.test(words)))
    return format['type'] === 'json_schema' ? 'json_object for a wished json_schema' : 'no wished response_format';
  const found = candidates.find(
    ([name, parameter, concession]) =>
      body[parameter] !== undefined &&
      (body[parameter] !== false || parameter === 'parallel_tool_calls') &&
      !made.has(concession) &&
      isRefused(said, name),
  );
  return found?.[2] ?? null;
}

function isRefused({ param, code, type, message }: UpstreamError, name: string): boolean {
  // A named parameter decides, whatever else the message quotes.
  const isNamed = param === name || param.startsWith(`${name}.`);
  if (param !== '' && !isNamed) return false;
  if (isNamed && [code, type].some((word) => unsupportedCode.test(word))) return true;
  if (name === 'stream' && mayNotStream.test(message)) return true;
  if (name === 'response_format' && typeUnknown.test(message)) return true;
  // Longer texts echo the request.
  return message.length <= 400 && saysUnsupported(message, name);
}
