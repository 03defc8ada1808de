import { Inject, Injectable } from '@nestjs/common';
import { AnswerFacts, Failure, type ResponseInputItem, ResponseItem, ResponseStatus, ResponseUsage } from '@conclave/contracts';
import { isJsonObject, STATE, type StateStore, withoutSignatures } from '@conclave/ports';
import { clientTag } from '@conclave/strategies';
import * as z from 'zod';
import type { ResponseEnd, ResponseHead } from './response-object.js';
import type { Loose } from './responses-request.js';

/** Milliseconds for which a response can be read: as long as its run. */
const keptMs = 7 * 24 * 60 * 60 * 1000;
/** Most characters stored of the input, and of the conversation up to and including it; the oldest are dropped first. */
const keptCharacters = 40_000;

const Loosely = z.record(z.string(), z.unknown());
const Stored = z.object({
  /** Null for an answer of a direct model. */
  runId: z.string().nullable(),
  head: Loosely,
  input: z.array(Loosely),
  /** Messages of the chat protocol up to the question. */
  messages: z.array(Loosely),
  end: z
    .object({
      status: ResponseStatus,
      output: z.array(ResponseItem),
      usage: ResponseUsage.nullable(),
      filtered: z.boolean().optional(),
      completedAt: z.number().nullable().optional(),
      failure: z.object({ code: z.string(), message: z.string() }).optional(),
      facts: AnswerFacts.optional(),
    })
    .nullable(),
});

/** A response as it is stored. */
export interface StoredResponse {
  readonly runId: string | null;
  readonly head: ResponseHead;
  readonly input: readonly (Loose & { readonly id: string; readonly type: string })[];
  readonly messages: readonly Loose[];
  /** How it ended, when the record of its run does not say so: the answer of a direct model, or one that was converted to a schema. */
  readonly end: ResponseEnd | null;
}

/** Responses by id, each visible only to its tenant. */
@Injectable()
export class StoredResponses {
  constructor(@Inject(STATE) private readonly state: Pick<StateStore, 'caches' | 'durable'>) {}

  /** Durable when it resolves. Throws STORE_*. */
  async keep(tenant: string, { input, messages, ...rest }: StoredResponse): Promise<void> {
    const value = { ...rest, input: newest(input), messages: newest(messages.map(withoutFiles)) };
    await this.state.caches.write({
      tenant,
      key: keyOf(rest.head.id),
      value,
      // Storing a response again does not extend its time.
      ttlMs: Math.max(1_000, Math.min(keptMs, rest.head.created_at * 1_000 + keptMs - Date.now())),
      tags: rest.runId === null ? [] : [clientTag(rest.runId)],
    });
    await this.state.durable();
  }

  /** Throws RESPONSE_NOT_FOUND, also for a response of another tenant, STORE_*. */
  async read(tenant: string, id: string, param?: string): Promise<StoredResponse> {
    const read = Stored.safeParse((await this.state.caches.read(tenant, keyOf(id)))?.value);
    if (!read.success) throw new Failure('RESPONSE_NOT_FOUND', undefined, { param });
    return read.data as unknown as StoredResponse;
  }

  /** Throws RESPONSE_NOT_FOUND, STORE_*. */
  async remove(tenant: string, id: string): Promise<void> {
    await this.read(tenant, id);
    await this.state.caches.remove(tenant, keyOf(id));
    await this.state.durable();
  }
}

const keyOf = (id: string): string => `response/${id}`;

/** The input as it is shown later, each item with an id; images and files are replaced by marks. */
export const keptItems = (items: readonly ResponseInputItem[], suffix: string): StoredResponse['input'] =>
  items.map((item, at) => {
    const type = item.type ?? 'message';
    const id = typeof item['id'] === 'string' ? item['id'] : `${type === 'message' ? 'msg' : 'item'}_${suffix}_in${at}`;
    const content = typeof item.content === 'string' ? [{ type: 'input_text', text: item.content }] : item.content?.map(marked);
    const { output } = item;
    const returned = Array.isArray(output) ? { output: output.map((part: unknown) => (isJsonObject(part) ? marked(part) : part)) } : {};
    return { ...item, id, type, ...(content ? { content } : {}), ...returned };
  });

const marked = (part: Loose): Loose =>
  part['type'] === 'input_image'
    ? { type: 'input_text', text: '[image]' }
    : part['type'] === 'input_file'
      ? { type: 'input_text', text: '[file]' }
      : part;

/** Images and files of earlier turns are not read again. */
function withoutFiles(message: Loose): Loose {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const text = content.map((part: unknown) => {
    const { type, text: said } = isJsonObject(part) ? part : {};
    return type === 'text' ? String(said) : type === 'image_url' ? '[image]' : '[file]';
  });
  return { ...message, content: text.join('\n') };
}

/** Signatures in ids, which are longer than most calls, leave no less room for the conversation. */
function newest<T>(all: readonly T[]): readonly T[] {
  let characters = 0;
  const from = all.findLastIndex((one) => (characters += withoutSignatures(JSON.stringify(one)).length) > keptCharacters);
  return all.slice(from + 1);
}
