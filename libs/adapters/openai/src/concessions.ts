import type { JsonBody, ModelCall } from '@conclave/ports';
import type { UpstreamError } from './error-body.js';

/** What is left out or said differently because a server refused it. */
export type Concession =
  'no stream' | 'no usage option' | 'max_completion_tokens' | 'no response_format' | 'no temperature' | 'no top_p' | 'no seed' | 'no stop';

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
    ...given('temperature', call.temperature, 'no temperature'),
    ...given('top_p', call.topP, 'no top_p'),
    ...given('seed', call.seed, 'no seed'),
    ...given('stop', call.stop, 'no stop'),
  };
}

/** The client's own body under the name the server knows. Usage is asked for in any stream: the call is accounted for. */
export function passedBody(body: JsonBody, model: string, made: Concessions): CompletionBody {
  const stream = body['stream'] === true;
  const options = body['stream_options'] as JsonBody | null | undefined;
  const asked = stream && (options || !made.has('no usage option'));
  return { ...body, model, stream, ...(asked ? { stream_options: { ...options, include_usage: true } } : {}) };
}

const refusal =
  /unsupported|not support|unrecognized|unknown|not permitted|not allowed|not implemented|deprecated|must be|invalid|disabled|extra|verified/;

/**
 * What to change so that the server takes the call, or null. Only what the call contained and the server names in its
 * refusal (400, 404, 405, 422, 500, 501) is given up, and nothing twice.
 */
export function concessionFor(status: number | null, said: UpstreamError, body: CompletionBody, made: Concessions): Concession | null {
  if (status === null || ![400, 404, 405, 422, 500, 501].includes(status)) return null;
  const words = `${said.param} ${said.code} ${said.type} ${said.message}`.toLowerCase();
  if (!refusal.test(words)) return null;
  const candidates: readonly (readonly [RegExp, string, Concession])[] = [
    [/stream_options|include_usage/, 'stream_options', 'no usage option'],
    [/use .?max_completion_tokens/, 'max_tokens', 'max_completion_tokens'],
    [/response_format|json_schema|json_object/, 'response_format', 'no response_format'],
    [/temperature/, 'temperature', 'no temperature'],
    [/top_p/, 'top_p', 'no top_p'],
    [/\bseed\b/, 'seed', 'no seed'],
    [/\bstop\b/, 'stop', 'no stop'],
    [/\bstream(ing|ed)?\b/, 'stream', 'no stream'],
  ];
  const found = candidates.find(
    ([pattern, parameter, concession]) =>
      pattern.test(words) && body[parameter] !== undefined && body[parameter] !== false && !made.has(concession),
  );
  return found?.[2] ?? null;
}
