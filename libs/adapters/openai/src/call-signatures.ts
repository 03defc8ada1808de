import { isJsonObject, type JsonObject, thoughtSignatureOf, unsignedId } from '@conclave/ports';
import type { UpstreamError } from './error-body.js';

/**
 * The signature that Google documents for calls that another model made, or whose signature is lost, on the Gemini API and on Vertex AI
 * (https://ai.google.dev/gemini-api/docs/thought-signatures#faqs). The model then lacks what it thought before the call.
 */
const placeholder = 'skip_thought_signature_validator';
/** The name under which Google's own service signs. */
const google = 'google';

const callsOf = ({ tool_calls: calls }: JsonObject): readonly JsonObject[] => (Array.isArray(calls) ? calls.filter(isJsonObject) : []);
const messagesIn = (messages: unknown): readonly JsonObject[] => (Array.isArray(messages) ? messages.filter(isJsonObject) : []);
const allCalls = (messages: unknown): readonly JsonObject[] => messagesIn(messages).flatMap(callsOf);

const withCalls = (message: JsonObject, change: (call: JsonObject, at: number) => JsonObject): JsonObject =>
  Array.isArray(message['tool_calls']) ? { ...message, tool_calls: callsOf(message).map(change) } : message;

/** The messages as the server wrote its calls: with the ids that it gave them, and the signatures that clients returned inside ids. */
export const withSignatures = (messages: unknown): unknown =>
  Array.isArray(messages) ? messages.map((message: unknown) => (isJsonObject(message) ? restored(message) : message)) : messages;

function restored(message: JsonObject): JsonObject {
  const { tool_call_id: answered } = message;
  const shown = withCalls(message, (call) => {
    if (typeof call['id'] !== 'string') return call;
    const { id, signature } = unsignedId(call['id']);
    return { ...call, id, ...(signature && !thoughtSignatureOf(call) ? { extra_content: signature } : {}) };
  });
  return typeof answered === 'string' ? { ...shown, tool_call_id: unsignedId(answered).id } : shown;
}

/** Whether calls have members that only the service of their model knows. */
export const hasExtraContent = (messages: unknown): messages is readonly JsonObject[] =>
  messagesIn(messages).some((message) => 'extra_content' in message) || allCalls(messages).some((call) => 'extra_content' in call);

/** The refusal of a server that does not know these members, as OpenAI, Groq and Mistral do: each names the member. */
export const refusesExtraContent = ({ message, param }: UpstreamError): boolean =>
  /\bextra_content\b/.test(`${param} ${message.slice(0, 4_000)}`);

/** The messages as a server takes them that does not sign calls. */
export const withoutExtraContent = (messages: readonly JsonObject[]): readonly JsonObject[] =>
  messages.map(({ extra_content: _, ...message }) => withCalls(message, ({ extra_content: __, ...call }) => call));

/** Of the calls that a model makes at once, Gemini signs the first. */
const lacksSignature = (message: JsonObject): boolean => {
  const [first] = callsOf(message);
  return first !== undefined && !thoughtSignatureOf(first);
};

export const hasUnsignedCalls = (messages: unknown): messages is readonly JsonObject[] => messagesIn(messages).some(lacksSignature);

/** The sentences of the Gemini API and of Vertex AI, also behind other services. */
export const wantsSignatures = ({ message }: UpstreamError): boolean =>
  /\bmissing (?:an? |the )?\W?thought_?signature\b/i.test(message.slice(0, 4_000));

/** The messages with a placeholder for each signature that is missing, under the name that other calls of the conversation have it under. */
export function withPlaceholders(messages: readonly JsonObject[]): readonly JsonObject[] {
  const known = allCalls(messages).map(thoughtSignatureOf).find(Boolean);
  const extra = known ? unsaid(known) : { [google]: { thought_signature: placeholder } };
  return messages.map((message) =>
    lacksSignature(message) ? withCalls(message, (call, at) => (at === 0 ? { ...call, extra_content: extra } : call)) : message,
  );
}

const isReal = (call: JsonObject): boolean => {
  const signature = thoughtSignatureOf(call);
  return signature !== null && JSON.stringify(signature) !== JSON.stringify(unsaid(signature));
};
export const hasRealSignatures = (messages: unknown): messages is readonly JsonObject[] => allCalls(messages).some(isReal);

/** The sentences of the Gemini API and of Vertex AI about a signature of another account or model, or one that was changed. */
export const refusesSignatures = ({ message }: UpstreamError): boolean =>
  /\b(?:invalid|corrupted) thought[ _]?signature\b|\bthought[ _]?signature\W? (?:is|was) (?:not valid|invalid|corrupted)\b/i.test(
    message.slice(0, 4_000),
  );

/** The messages with placeholders instead of their signatures. */
export const withPlaceholdersOnly = (messages: readonly JsonObject[]): readonly JsonObject[] =>
  messages.map((message) =>
    withCalls(message, (call) => (isReal(call) ? { ...call, extra_content: unsaid(thoughtSignatureOf(call)!) } : call)),
  );

/** A signature without what it says. */
const unsaid = (signature: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(signature).map(([service, said]) => [
      service,
      isJsonObject(said) && 'thought_signature' in said ? { ...said, thought_signature: placeholder } : said,
    ]),
  );
