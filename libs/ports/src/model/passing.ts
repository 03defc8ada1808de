import { isJsonObject } from '../tools/tool-signature.js';
import type { JsonObject } from '../tools/tools.js';
import type { CallMessage, CallContentPart, ModelCall, ModelReply, Models } from './model.js';

/** A whole reply as stream chunks; `usage`: adds a last chunk with it. */
export function chunksOf(reply: JsonObject, usage: boolean): readonly JsonObject[] {
  const { id, created, model, choices } = reply;
  const head = { id, object: 'chat.completion.chunk', created, model };
  const listed = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
  const deltas = listed.flatMap(({ index = 0, message, logprobs = null, finish_reason = 'stop' }) => [
    { ...head, choices: [{ index, delta: deltaOf(message), logprobs, finish_reason: null }] },
    { ...head, choices: [{ index, delta: {}, logprobs: null, finish_reason }] },
  ]);
  return [...deltas, ...(usage && isJsonObject(reply['usage']) ? [{ ...head, choices: [], usage: reply['usage'] }] : [])];
}

/** In a stream each tool call carries its index. */
function deltaOf(message: unknown): JsonObject {
  if (!isJsonObject(message)) return {};
  const calls = message['tool_calls'];
  return Array.isArray(calls)
    ? { ...message, tool_calls: calls.map((call: unknown, index) => (isJsonObject(call) ? { index, ...call } : call)) }
    : message;
}

/** Whether a body asks for a usage chunk. */
export const asksForUsage = (body: JsonObject): boolean =>
  isJsonObject(body['stream_options']) && body['stream_options']['include_usage'] === true;

/** `pass` for a model that does not use HTTP: sends the parameters the model knows and returns the reply in OpenAI's shape. */
export const passOver =
  (call: Models['call']): Models['pass'] =>
  async ({ model, body, timeoutMs }, { onChunk, onDelta, ...watch }) => {
    const head = { id: 'chatcmpl-0', created: Math.floor(Date.now() / 1000), model };
    const send = body['stream'] === true ? onChunk : undefined;
    const delta = (value: JsonObject, finish_reason: string | null = null): JsonObject => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: value, logprobs: null, finish_reason }],
    });
    let begun = false;
    let given = '';
    const reply = await call(callOf(model, body, timeoutMs), {
      ...watch,
      ...(send
        ? {
            onDelta: ({ content, reasoning }) => {
              onDelta?.({ ...(content ? { content } : {}), ...(reasoning ? { reasoning } : {}) });
              given += content ?? '';
              const role = begun ? {} : { role: 'assistant' };
              begun = true;
              send(delta({ ...role, ...(content ? { content } : {}), ...(reasoning ? { reasoning_content: reasoning } : {}) }));
            },
          }
        : {}),
    });
    const finish = finishOf(reply);
    const usage = usageOf(reply);
    if (!send) {
      const message = {
        role: 'assistant',
        content: reply.content,
        refusal: null,
        ...(reply.reasoning ? { reasoning_content: reply.reasoning } : {}),
      };
      return {
        ...reply,
        body: { ...head, object: 'chat.completion', choices: [{ index: 0, message, logprobs: null, finish_reason: finish }], usage },
      };
    }
    // A model may have held back the end of its text.
    const rest = reply.content.startsWith(given) ? reply.content.slice(given.length) : '';
    if (rest !== '' || !begun) send(delta({ ...(begun ? {} : { role: 'assistant' }), content: rest }));
    send(delta({}, finish));
    if (asksForUsage(body)) send({ ...head, object: 'chat.completion.chunk', choices: [], usage });
    return { ...reply, body: null };
  };

const finishOf = ({ finishReason }: ModelReply): string =>
  finishReason === 'unknown' ? 'stop' : finishReason === 'repetition' ? 'length' : finishReason;

const usageOf = ({ usage: { prompt, completion, reasoning } }: ModelReply): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  completion_tokens_details: { reasoning_tokens: Math.min(reasoning, completion) },
});

function callOf(model: string, body: JsonObject, timeoutMs: number): ModelCall {
  const numbers = {
    temperature: body['temperature'],
    topP: body['top_p'],
    seed: body['seed'],
    maxTokens: body['max_completion_tokens'] ?? body['max_tokens'],
  };
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : body['stop'];
  return {
    model,
    messages: (Array.isArray(body['messages']) ? body['messages'] : []).filter(isJsonObject).map(messageOf),
    ...Object.fromEntries(
      Object.entries(numbers).filter(([name, value]) => typeof value === 'number' && (name !== 'maxTokens' || value > 0)),
    ),
    ...(Array.isArray(stop) && stop.length > 0 ? { stop: stop.filter((one) => typeof one === 'string') } : {}),
    ...(isJsonObject(body['response_format']) ? { responseFormat: body['response_format'] } : {}),
    timeoutMs,
  };
}

function messageOf({ role, content }: JsonObject): CallMessage {
  const parts = Array.isArray(content) ? (content.filter(isJsonObject) as unknown as CallContentPart[]) : [];
  const text =
    typeof content === 'string' ? content : parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('');
  return {
    role: role === 'assistant' || role === 'tool' || role === 'system' ? role : role === 'developer' ? 'system' : 'user',
    content: text,
    ...(parts.some(({ type }) => type !== 'text') ? { parts } : {}),
  };
}
