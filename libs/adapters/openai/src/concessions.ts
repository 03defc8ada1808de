import type { JsonBody, ModelCall } from '@conclave/ports';
import type { UpstreamError } from './error-body.js';

/** What is left out or said differently because a server refused it. */
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
  | 'no stop';

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
    messages: call.messages.map(({ role, content, parts }) => ({ role, content: parts ?? content })),
    stream,
    ...(stream && !made.has('no usage option') ? { stream_options: { include_usage: true } } : {}),
    ...(call.maxTokens === undefined
      ? {}
      : { [made.has('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens']: call.maxTokens }),
    ...given('response_format', call.responseFormat, 'no response_format'),
    ...(isWish(call) ? given('response_format', wished(call, made), 'no wished response_format') : {}),
    ...given('temperature', call.temperature, 'no temperature'),
    ...given('top_p', call.topP, 'no top_p'),
    ...given('seed', call.seed, 'no seed'),
    ...given('stop', call.stop, 'no stop'),
  };
}

/** Whether the form of the reply is one that the call can do without. */
export const isWish = (call: ModelCall): boolean => call.responseFormat === undefined && call.wishedFormat !== undefined;

const wished = ({ wishedFormat: format }: ModelCall, made: Concessions) =>
  format?.['type'] === 'json_schema' && made.has('json_object for a wished json_schema') ? { type: 'json_object' } : format;

/** The client's own body under the name the server knows. Usage is asked for in any stream: the call is accounted for. */
export function passedBody(body: JsonBody, model: string, made: Concessions): CompletionBody {
  const stream = body['stream'] === true;
  const options = body['stream_options'] as JsonBody | null | undefined;
  const asked = stream && (options || !made.has('no usage option'));
  return { ...body, model, stream, ...(asked ? { stream_options: { ...options, include_usage: true } } : {}) };
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
];

/** Codes and types that say so themselves. Only OpenAI's own are known to. */
const unsupportedCode = /^(?:unsupported_(?:parameter|value)|unknown_parameter|extra_forbidden)$/;

/**
 * Plain sentences that say that the server does not know the parameter `name`. What it says of a value (“must be”, “invalid”) is the
 * mistake of one call and no property of the model.
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

/** OpenAI's word for an account that may not stream. */
const mayNotStream = /must be verified to stream/i;
/** Which types a server knows is a property of the server: whoever asks for one it does not know has made no mistake. */
const typeUnknown = /response_format['"\u0060]?(?:\.type|\s+type)['"\u0060]?\s+(?:must be|is unavailable)/i;

/** How servers name the form of a reply, a schema that they cannot keep among them. */
const speaksOfFormat = /response[_ ]?(?:format|schema)|json[_ ]?(?:schema|object|mode)|structured[_ ]?output|guided|grammar/i;

/**
 * What to change so that the server takes the call, or null. Only what the call contained and the server says that it does not support
 * (400, 404, 405, 422, 500, 501) is given up, and nothing twice. A wished form (`isWished`) is given up whatever the server says about it.
 */
export function concessionFor(
  status: number | null,
  said: UpstreamError,
  body: CompletionBody,
  made: Concessions,
  isWished = false,
): Concession | null {
  if (status === null || ![400, 404, 405, 422, 500, 501].includes(status)) return null;
  const format = body['response_format'] as JsonBody | undefined;
  if (isWished && format !== undefined && [said.param, said.message.slice(0, 400)].some((words) => speaksOfFormat.test(words)))
    return format['type'] === 'json_schema' ? 'json_object for a wished json_schema' : 'no wished response_format';
  const found = candidates.find(
    ([name, parameter, concession]) =>
      body[parameter] !== undefined && body[parameter] !== false && !made.has(concession) && isRefused(said, name),
  );
  return found?.[2] ?? null;
}

function isRefused({ param, code, type, message }: UpstreamError, name: string): boolean {
  // A server that names the parameter means that one, whatever else its sentence quotes.
  const isNamed = param === name || param.startsWith(`${name}.`);
  if (param !== '' && !isNamed) return false;
  if (isNamed && [code, type].some((word) => unsupportedCode.test(word))) return true;
  if (name === 'stream' && mayNotStream.test(message)) return true;
  if (name === 'response_format' && typeUnknown.test(message)) return true;
  // Longer texts are echoes of a request, not sentences about it.
  return message.length <= 400 && saysUnsupported(message, name);
}
