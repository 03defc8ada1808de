import type { JsonObject, ModelCall } from '@conclave/ports';
import type { UpstreamError } from './error-body.js';
import type { Concession, Concessions } from './concession.js';
import { concessionOfMessages, messagesFor } from './message-concessions.js';

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

/** What servers call a parameter, with what may stand between that and its name. */
const noun =
  '(?:(?:request |input )?(?:parameters?|arguments?|fields?|options?|keywords?|properties|property|inputs?|values?|names?|keys?)\\b[^.:\n]{0,30}?:?\\s*)?';
const not =
  "(?:is|are) (?:not (?:yet )?(?:supported|permitted|allowed|implemented|available|recognized)|unsupported|deprecated|unavailable|disabled)|(?:isn't|aren't) supported";

/** Sentences that a server does not know a parameter, whose name stands as it is, in quotes, or as `body.name`. */
function sentencesAbout(name: string): readonly string[] {
  const quoted = `['"\u0060\u2018\u2019\u201c\u201d[]?(?:body\\.)?${name}(?:\\.\\w+)?['"\u0060\u2018\u2019\u201c\u201d\\]]?`;
  return [
    // Not what Gemini says of a word inside a schema: “Unknown name "stop" at 'tools[0].function…'”.
    `\\b(?:unsupported|unknown|unrecognized|unexpected|extra(?:neous)?) ${noun}${quoted}(?![\\w.])(?!"? at ')`,
    `\\binputs? (?:is|are) not permitted(?::|, field:) ${quoted}(?![\\w.])`, // the second: Fireworks
    `'loc': \\('body', '${name}'[^)]*\\), 'msg': 'extra inputs are not permitted'`, // vLLM, as Python writes a list
    `(?:^|[^\\w.])${quoted}:?(?: [\\w'"-]+){0,3} (?:${not})`, // with a colon: Anthropic, Cerebras
    `\\b(?:does not|doesn't|do not|cannot|can't) (?:yet )?support (?:the )?${noun}${quoted}(?![\\w.])`,
    `\\b(?:argument|parameter)s? not supported\\b[^.:\n]{0,30}: ${quoted}(?![\\w.])`, // xAI
    ...(name === 'max_tokens' ? ['\\buse [\'"\u0060]?max_completion_tokens\\b[\'"\u0060]? instead'] : []),
    `\\binvalid ${quoted}: only [\\d.]+ is allowed`, // Kimi
    // TGI, GigaChat: our 0 is outside.
    ...(name === 'temperature' ? [`${quoted} must be (?:strictly positive|in (?:the )?range \\(0)`] : []),
    // Claude, also on Bedrock: one of the two has to go.
    ...(name === 'top_p' ? ['temperature\\W{1,3}and\\W{1,3}top_p\\W{1,3} ?cannot both be'] : []),
  ];
}

/**
 * Whether a plain sentence says that the server does not know the parameter `name`. Complaints about a value (“must be”, “invalid”) are
 * the fault of one call, not a property of the model.
 */
const saysUnsupported = (message: string, name: string): boolean =>
  sentencesAbout(name).some((pattern) => new RegExp(pattern, 'iu').test(message));

/** OpenAI's message for an account that may not stream. */
const mayNotStream = /must be verified to stream/i;
/** A server that does not know a response format type. This is a property of the server, not a fault of the call. */
const typeUnknown = /response_format['"\u0060]?(?:\.type|\s+type)['"\u0060]?\s+(?:must be|is unavailable)/i;

/** Server messages about the reply format, including schemas it cannot follow, and the code of Groq for a reply that does not follow it. */
const speaksOfFormat =
  /response[_ ]?(?:format|schema)|json[_ ]?(?:schema|object|mode)|structured[_ ]?output|guided|grammar|json_validate_failed/i;

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
  const ofMessages = concessionOfMessages(said, body['messages'], made);
  if (ofMessages) return ofMessages;
  const format = body['response_format'] as JsonObject | undefined;
  if (isOptional && format !== undefined && [said.param, said.code, said.message.slice(0, 400)].some((words) => speaksOfFormat.test(words)))
    return format['type'] === 'json_schema' ? 'json_object for a wished json_schema' : 'no wished response_format';
  const found = candidates.find(
    ([name, parameter, concession]) =>
      body[parameter] !== undefined &&
      (body[parameter] !== false || parameter === 'parallel_tool_calls') &&
      !made.has(concession) &&
      isRefused(said, name, body),
  );
  return found?.[2] ?? null;
}

function isRefused({ param, code, type, message }: UpstreamError, name: string, body: CompletionBody): boolean {
  // A named parameter decides, whatever else the message quotes. Cerebras names none there, but a kind of error.
  const isNamed = param === name || param.startsWith(`${name}.`);
  if (!isNamed && (/^\w+/.exec(param)?.[0] ?? '') in body) return false;
  if (isNamed && [code, type].some((word) => unsupportedCode.test(word))) return true;
  if (name === 'stream' && mayNotStream.test(message)) return true;
  if (name === 'response_format' && typeUnknown.test(message)) return true;
  // Longer texts echo the request.
  return message.length <= 400 && saysUnsupported(message, name);
}
