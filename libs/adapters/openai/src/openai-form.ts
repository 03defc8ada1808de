import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject, thoughtSignatureOf, signedId } from '@conclave/ports';
import { textsOfPart } from './content-parts.js';
import { inOpenAisWords } from './finish-reasons.js';
import { isJsonText } from './json-text.js';

/** A call of a tool, as far as it has arrived, with its id in the words of the server. */
interface Call {
  readonly id: string;
  name: string;
  arguments: string;
  /** Its first piece, as the client gets it. */
  readonly first: Record<string, unknown>;
  /** Whether its id is held back, because the signature that it will contain may still come: Gemini, which writes no index, sends it last. */
  awaitsSignature: boolean;
}

/** What is known of one choice. */
interface Choice {
  readonly calls: Call[];
  /** The last call at each index that the server wrote. */
  readonly at: Map<unknown, Call>;
  /** Whether the client was told whose message it is. */
  hasRole: boolean;
  ended: boolean;
}
const begun = (): Choice => ({ calls: [], at: new Map(), hasRole: false, ended: false });

/**
 * Brings the reply to a client's own request into the form of OpenAI where a server departs from it, because the libraries of clients fail on
 * other forms: content as a list of parts (Mistral, Databricks), calls of tools without index, id or type (Mistral, Gemini), several with
 * the same index, arguments as an object, no delta (Azure), other words for the end. Everything else stays as it is.
 */
export class OpenAiForm {
  private readonly choices = new Map<unknown, Choice>();
  /** Chunks behind the id of a call that is held back. */
  private held: JsonObject[] = [];

  /** What the client gets after this chunk. */
  chunk(chunk: JsonObject): readonly JsonObject[] {
    this.held.push(this.shown(chunk));
    return [...this.choices.values()].some(({ calls, ended }) => !ended && calls.at(-1)?.awaitsSignature) ? [] : this.released();
  }

  /** What was held back. */
  private released(): readonly JsonObject[] {
    const chunks = this.held;
    this.held = [];
    return chunks;
  }

  private shown(chunk: JsonObject): JsonObject {
    if (!Array.isArray(chunk['choices'])) return chunk;
    const given = (chunk['choices'] as unknown[]).filter(isJsonObject);
    // TabbyAPI repeats the end of a choice beside the usage.
    if (isJsonObject(chunk['usage']) && given.length > 0 && given.every((choice) => this.isRepeatedEnd(choice)))
      return { ...chunk, choices: [] };
    return { ...chunk, choices: given.map((choice) => this.choice(choice, 'delta')) };
  }

  whole(reply: JsonObject): JsonObject {
    const given = Array.isArray(reply['choices']) ? (reply['choices'] as unknown[]).filter(isJsonObject) : [];
    return { ...reply, choices: given.map((choice) => this.choice(choice, 'message')) };
  }

  /** What was held back, and the chunk that a stream lacks which ended without saying why. */
  end(): readonly JsonObject[] {
    if (this.choices.size === 0) this.choices.set(0, begun());
    const open = [...this.choices].filter(([, { ended }]) => !ended);
    const choices = open.map(([index, so]) => {
      so.ended = true;
      const delta = so.hasRole ? {} : { role: 'assistant', content: '' };
      return { index, delta, logprobs: null, finish_reason: inOpenAisWords('stop', so.calls.length > 0) };
    });
    return [...this.released(), ...(choices.length === 0 ? [] : [{ object: 'chat.completion.chunk', choices }])];
  }

  private isRepeatedEnd({ index = 0, delta }: JsonObject): boolean {
    return this.choices.get(index)?.ended === true && (!isJsonObject(delta) || Object.keys(delta).length === 0);
  }

  private choice(choice: JsonObject, part: 'delta' | 'message'): JsonObject {
    const { index = 0, finish_reason: reason } = choice;
    const so = this.choices.get(index) ?? begun();
    this.choices.set(index, so);
    const said = this.withRole([choice[part], choice['message']].find(isJsonObject) ?? {}, so, part);
    const shown = { ...choice, [part]: this.message(said, so, part) };
    const finish = inOpenAisWords(typeof reason === 'string' ? reason : '', so.calls.length > 0);
    so.ended ||= finish !== null;
    if (part === 'message') return { ...shown, finish_reason: finish ?? inOpenAisWords('stop', so.calls.length > 0) };
    return reason === undefined ? shown : { ...shown, finish_reason: finish };
  }

  /** Every message has a role, and the content null if it has none; OpenAI's library throws for a stream without a role. */
  private withRole(said: JsonObject, so: Choice, part: 'delta' | 'message'): JsonObject {
    const role = so.hasRole || typeof said['role'] === 'string' ? {} : { role: 'assistant' };
    so.hasRole = true;
    return part === 'message' ? { ...role, content: null, ...said } : { ...role, ...said };
  }

  private message(said: JsonObject, so: Choice, part: 'delta' | 'message'): JsonObject {
    const { tool_calls: calls } = said;
    const texts = withTexts(said);
    if (!Array.isArray(calls) || calls.length === 0) return texts;
    return { ...texts, tool_calls: calls.filter(isJsonObject).map((call) => called(call, so, part)) };
  }
}

/** The message with its text as text, unless a part of it is something else, such as an image. */
function withTexts(said: JsonObject): JsonObject {
  if (!Array.isArray(said['content'])) return said;
  const parts = (said['content'] as unknown[]).map(textsOfPart);
  if (parts.includes(null)) return said;
  const content = parts.map((part) => part!.text).join('');
  const thinking = parts.map((part) => part!.thinking).join('');
  return { ...said, content, ...(thinking !== '' && !said['reasoning_content'] ? { reasoning_content: thinking } : {}) };
}

/** A call, or a piece of one, with its index; a new one with an id and its type. Adds it to those of the choice. */
function called(call: JsonObject, { calls, at }: Choice, part: 'delta' | 'message'): JsonObject {
  const named = isJsonObject(call['function']) ? call['function'] : {};
  const given = named['arguments'];
  const words = typeof given === 'string' ? given : isJsonObject(given) ? JSON.stringify(given) : '';
  const name = typeof named['name'] === 'string' ? named['name'] : '';
  const id = typeof call['id'] === 'string' ? call['id'] : '';
  const shown = isJsonObject(given) || part === 'message' ? { ...named, arguments: words } : named;
  const last = typeof call['index'] === 'number' ? at.get(call['index']) : calls.at(-1);
  if (part === 'message' || !last || begins(last, id, name)) {
    const index = part === 'delta' ? { index: calls.length } : {};
    const own = id === '' ? `call_${randomUUID().replaceAll('-', '')}` : id;
    const first = { ...call, ...index, id: signedId(own, call), type: call['type'] ?? 'function', function: shown };
    const awaitsSignature = part === 'delta' && typeof call['index'] !== 'number' && !thoughtSignatureOf(call);
    const next = { id, name, arguments: words, first, awaitsSignature };
    calls.push(next);
    at.set(call['index'], next);
    return first;
  }
  if (last.awaitsSignature && thoughtSignatureOf(call)) {
    last.first['id'] = signedId(String(last.first['id']), call);
    last.awaitsSignature = false;
  }
  last.arguments += words;
  // Libraries join the pieces of a call, and with them what is repeated.
  const { id: _, type: __, function: ___, ...rest } = call;
  const { name: ____, ...pieces } = shown;
  const isRepeated = name === '' || name === last.name;
  last.name ||= name;
  return { ...rest, index: calls.indexOf(last), ...(isJsonObject(call['function']) ? { function: isRepeated ? pieces : shown } : {}) };
}

/** Whether a piece begins another call: only a first piece has a name, and with it another id, or complete arguments before it. */
const begins = (last: Call, id: string, name: string): boolean =>
  name !== '' && last.name !== '' && (id === '' ? isJsonText(last.arguments) : id !== last.id);
