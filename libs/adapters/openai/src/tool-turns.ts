import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@conclave/ports';

const followsResults = (messages: readonly JsonObject[], at: number): boolean =>
  messages[at]?.['role'] === 'user' && messages[at - 1]?.['role'] === 'tool';

/** Whether a message of the user follows results of tools, as agents send them when a user adds something. */
export const hasUserAfterResults = (messages: unknown): messages is readonly JsonObject[] =>
  Array.isArray(messages) && messages.some((_, at) => followsResults(messages as readonly JsonObject[], at));

/** The sentence of Mistral, also behind other services. */
export const refusesUserAfterResults = (message: string): boolean =>
  /\bunexpected role ['"]?user['"]? after role ['"]?tool\b/i.test(message.slice(0, 4_000));

/** The messages with a reply of the model between results of tools and the user. */
export const withReplyAfterResults = (messages: readonly JsonObject[]): readonly JsonObject[] =>
  messages.flatMap((message, at) =>
    followsResults(messages, at) ? [{ role: 'assistant', content: 'I have the results.' }, message] : [message],
  );

const shortId = /^[A-Za-z0-9]{9}$/;
const callsOf = ({ tool_calls: calls }: JsonObject): readonly JsonObject[] => (Array.isArray(calls) ? calls.filter(isJsonObject) : []);

/** Whether calls of tools have ids that another model server gave them. */
export const hasLongIds = (messages: unknown): messages is readonly JsonObject[] =>
  Array.isArray(messages) &&
  messages.filter(isJsonObject).some((message) => callsOf(message).some(({ id }) => typeof id === 'string' && !shortId.test(id)));

/** The sentence of Mistral and its chat templates, which take ids of nine letters and digits. */
export const refusesLongIds = (message: string): boolean => /\btool call ids?\b.{0,120}\blength (?:of )?9\b/i.test(message.slice(0, 4_000));

/** The same id for the same call in each request of a conversation. */
const shortened = (id: unknown): unknown =>
  typeof id !== 'string' || shortId.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);

/** The messages with ids of calls of nine letters and digits. */
export const withShortIds = (messages: readonly JsonObject[]): readonly JsonObject[] =>
  messages.map((message) => ({
    ...message,
    ...(Array.isArray(message['tool_calls'])
      ? { tool_calls: callsOf(message).map((call) => ({ ...call, id: shortened(call['id']) })) }
      : {}),
    ...('tool_call_id' in message ? { tool_call_id: shortened(message['tool_call_id']) } : {}),
  }));
