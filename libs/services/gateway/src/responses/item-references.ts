import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure, type ResponseInputItem, type ResponseItem, type ResponseRequest } from '@conclave/contracts';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { ResponseViews, type Standing } from './response-views.js';
import { itemsOf } from './responses-request.js';

/** The ids of items name their response: those of its output, and those of its input. A later turn of a run has a number. */
const idOfItem = /^(?:msg|fc|item)_([A-Za-z0-9]+(?:-\d{1,9})?)(?:_(?:in)?\d{1,6})?$/;

/**
 * Items that a client refers to by id instead of sending them. SDKs do this by default for items of a stored response; Vercel's provider does it
 * for every earlier answer.
 */
@Injectable()
export class ItemReferences {
  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'maxMessages'>,
    @Inject(ResponseViews) private readonly views: ResponseViews,
  ) {}

  /** The request with the items themselves. Throws RESPONSE_NOT_FOUND, also for items of another tenant, REQUEST_INVALID, STORE_*. */
  async resolved(request: ResponseRequest, caller: Caller): Promise<ResponseRequest> {
    const items = itemsOf(request);
    const count = items.filter(isReference).length;
    if (count === 0) return request;
    const most = this.limits.maxMessages;
    if (count > most) throw new Failure('REQUEST_INVALID', `At most ${most} items may be named; leave out the oldest.`, { param: 'input' });
    const found = new Map<string, Promise<Standing>>();
    const input: ResponseInputItem[] = [];
    // One at a time: a request may name items of many responses.
    for (const [at, item] of items.entries()) input.push(isReference(item) ? await this.itemOf(item['id'], caller, at, found) : item);
    return { ...request, input };
  }

  private async itemOf(id: unknown, caller: Caller, at: number, found: Map<string, Promise<Standing>>): Promise<ResponseInputItem> {
    const param = `input[${at}].id`;
    if (typeof id !== 'string') throw new Failure('REQUEST_INVALID', 'The id of the named item must be a text.', { param });
    // Thoughts are left out of a conversation anyway.
    if (id.startsWith('rs_')) return { type: 'reasoning', id };
    const suffix = idOfItem.exec(id)?.[1];
    const unknown = new Failure('RESPONSE_NOT_FOUND', 'The named item is in no stored response: send the item itself.', { param });
    if (suffix === undefined) throw unknown;
    const standing = found.get(suffix) ?? this.views.standing(`resp_${suffix}`, caller);
    found.set(suffix, standing);
    const { stored, end } = await standing.catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'RESPONSE_NOT_FOUND' ? unknown : error;
    });
    const item = end.output.map(sent).find((one) => one['id'] === id) ?? stored.input.find((one) => one.id === id);
    if (!item) throw unknown;
    return item;
  }
}

/** OpenAI's API also accepts a reference without its type. */
const isReference = ({ type, role, content, id }: ResponseInputItem): boolean =>
  type === 'item_reference' || ((type ?? null) === null && (role ?? null) === null && (content ?? null) === null && typeof id === 'string');

/** An item of an answer as a client would send it. */
const sent = (item: ResponseItem): ResponseInputItem => ({ ...item }) as ResponseInputItem;
