import {
  deadTopic,
  Failure,
  LetterSettled,
  makeEvent,
  type DeadLetterItem,
  type DeadLetterList,
  type DeadLetterSettled,
  type DeadLetterSettlement,
  type DeadLetterView,
} from '@conclave/contracts';
import type { EventLog } from './event-log.js';
import type { StoredRecord } from './record.js';
import { redrivenRecord } from './record.js';

/** What is known about a run, from the state store. */
export interface RunEnd {
  readonly status: string;
  readonly terminal: boolean;
}

export interface DeadLettersOptions {
  readonly log: Pick<EventLog, 'read' | 'publish' | 'publishRaw'>;
  /** Topics that a record may be re-driven to, without prefix; all topics if absent. */
  readonly topics?: readonly string[];
  /** Looks up the run of a letter; without it, letters carry no information about their runs. */
  readonly runOf?: (runId: string) => Promise<RunEnd | null>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface LetterFilter {
  readonly topic?: string;
  readonly group?: string;
  readonly reason?: string;
  /** Also returns settled letters. */
  readonly all?: boolean;
}

export interface LetterDecision {
  readonly actor: string;
  readonly note?: string | null;
}

/**
 * The topic `dead` for people. Decisions are stored as records beside the letters, so they are as durable as the log and need no other
 * store. Every call reads the whole topic, which is expected to be short. Throws Failure DEAD_LETTER_NOT_FOUND, DEAD_LETTER_SETTLED, and
 * the failures of the log.
 */
export class DeadLetters {
  constructor(private readonly options: DeadLettersOptions) {}

  /** Newest first. `before` is the `nextBefore` of the previous page. Throws REQUEST_INVALID for an invalid `before`. */
  async list(filter: LetterFilter, page: { readonly limit: number; readonly before?: string }): Promise<DeadLetterList> {
    const before = page.before === undefined ? null : placeOf(page.before);
    const { letters, decisions } = await this.readAll(() => false);
    const fitting = letters
      .map(({ item }) => ({ ...item, settled: decisions.get(item.id)?.at(-1) ?? null }))
      .filter((item) => fits(item, filter))
      .sort((a, b) => compare(orderOf(b), orderOf(a)));
    const rest = before ? fitting.filter((item) => compare(orderOf(item), before) < 0) : fitting;
    const data = rest.slice(0, page.limit);
    const last = data.at(-1);
    return {
      object: 'list',
      data,
      total: fitting.length,
      nextBefore: last && rest.length > data.length ? orderOf(last).join('-') : null,
    };
  }

  async show(id: string): Promise<DeadLetterView> {
    const { record, item, settlements } = await this.find(id);
    return {
      ...item,
      headers: { ...record.headers },
      raw: { base64: record.raw.toString('base64'), text: textOf(record.raw) },
      settlements,
      effects: await this.effects(item),
    };
  }

  /**
   * Publishes the record again for the group that failed: first the record, then the decision. A crash between them leaves the letter open;
   * a second copy has the same event id, so it takes effect once. Refused for a settled letter unless `again`.
   */
  async redrive(id: string, decision: LetterDecision & { readonly again?: boolean }): Promise<DeadLetterSettled> {
    const letter = await this.find(id);
    const { item, record } = letter;
    if (!decision.again) refuseSettled(item);
    const { topic, group } = item;
    if (topic === null || group === null || (this.options.topics && !this.options.topics.includes(topic)))
      throw new Failure('EVENT_UNDECODABLE', `The letter ${id} does not name the topic and group it came from; it can only be discarded.`);
    const { log } = this.options;
    if (!log.publishRaw) throw new TypeError('This log cannot append a record as it is.');
    const effects = await this.effects(item);
    await log.publishRaw(redrivenRecord(record, { topic, group, letter: id }));
    return { ...(await this.settle(letter, 'redriven', decision)), effects };
  }

  /** Records that the letter will not be handled. Refused for a settled letter. */
  async discard(id: string, decision: LetterDecision): Promise<DeadLetterSettled> {
    const letter = await this.find(id);
    refuseSettled(letter.item);
    return { ...(await this.settle(letter, 'discarded', decision)), effects: await this.effects(letter.item) };
  }

  private async settle(
    { item, settlements }: Found,
    action: DeadLetterSettlement['action'],
    { actor, note = null }: LetterDecision,
  ): Promise<Omit<DeadLetterSettled, 'effects'>> {
    const at = (this.options.now ?? Date.now)();
    const runId = item.runId ?? 'none';
    const event = makeEvent(
      LetterSettled,
      { id: `dead/${item.id}/${action}/${settlements.length + 1}`, runId, source: 'transport', time: at },
      { letter: item.id, action, actor, note, settledAt: at },
    );
    await this.options.log.publish([event]);
    return { object: 'dead_letter.settled', letter: { ...item, settled: { action, actor, note, at } } };
  }

  private async find(id: string): Promise<Found> {
    const { letters, decisions } = await this.readAll((item) => item.id === id);
    const found = letters.find(({ item }) => item.id === id);
    if (!found?.record) throw new Failure('DEAD_LETTER_NOT_FOUND', `Looked for ${id.slice(0, 60)}.`);
    const settlements = decisions.get(id) ?? [];
    return { record: found.record, item: { ...found.item, settled: settlements.at(-1) ?? null }, settlements };
  }

  /** Every letter, with its bytes only if `keep` returns true, and every decision in log order. */
  private async readAll(keep: (item: DeadLetterItem) => boolean) {
    const letters: { readonly item: DeadLetterItem; readonly record?: StoredRecord }[] = [];
    const decisions = new Map<string, DeadLetterSettlement[]>();
    for await (const record of this.options.log.read(deadTopic)) {
      const { event, headers } = record;
      if (event?.type === LetterSettled.type && headers['dead-topic'] === undefined) {
        const { letter, action, actor, note, settledAt: at } = event.data as LetterSettled['data'];
        decisions.set(
          letter,
          [...(decisions.get(letter) ?? []), { action, actor, note, at }].sort((a, b) => a.at - b.at),
        );
        continue;
      }
      const item = itemOf(record);
      letters.push(keep(item) ? { item, record } : { item });
    }
    return { letters, decisions };
  }

  /** What dead-lettering the record caused, and what re-driving it can still change. */
  private async effects(item: DeadLetterItem): Promise<string[]> {
    if (item.group === 'webhooks' && item.reason !== 'undecodable')
      return [
        'Its run had already ended and does not change. A re-drive notifies the webhooks that were not notified yet, with the same ids.',
      ];
    const said: string[] = [];
    if (item.reason === 'undecodable') said.push('It could not be decoded, so no task or run was ended because of it.');
    else if (item.type === 'TaskDispatched')
      said.push(
        'Its task ended with an error when it became a dead letter. The first outcome of a task counts: the result of a re-drive is recorded, but not used for the answer.',
      );
    else if (item.type === 'KnowledgeProposed' && item.runId?.startsWith('doc_'))
      said.push(
        'Its document failed when it became a dead letter. A re-drive reads it again, unless it is ready, removed or was sent again in the meantime; the document then says how that ended.',
      );
    else if (item.group === 'merger' || item.group === 'planner') said.push('Its run was aborted when it became a dead letter.');
    const run = item.runId && this.options.runOf ? await this.options.runOf(item.runId) : null;
    if (run?.terminal) said.push(`Its run has ended (${run.status}): handling the record again yields no outputs for it.`);
    return said;
  }
}

interface Found {
  readonly record: StoredRecord;
  readonly item: DeadLetterItem;
  readonly settlements: DeadLetterSettlement[];
}

/** Stable, because the log never renumbers: `<partition>-<offset>`. */
const letterId = ({ partition, offset }: Pick<StoredRecord, 'partition' | 'offset'>): string => `${partition}-${offset}`;

function itemOf(record: StoredRecord): DeadLetterItem {
  const { headers, raw, appendedAt } = record;
  const text = (name: string): string | null => headers[name] || null;
  const [topic, partition, offset] = [text('dead-topic'), text('dead-partition'), text('dead-offset')];
  const attempts = /^\d{1,9}$/.test(headers['dead-attempts'] ?? '') ? Number(headers['dead-attempts']) : null;
  return {
    object: 'dead_letter',
    id: letterId(record),
    topic,
    record: topic && partition && offset ? `${topic}/${partition}/${offset}` : null,
    group: text('dead-group'),
    reason: text('dead-reason') ?? 'unknown',
    error: text('dead-error'),
    attempts,
    diedAt: appendedAt,
    type: text('ce_type'),
    eventId: text('ce_id'),
    runId: text('ce_runid'),
    bytes: raw.byteLength,
    redriveOf: text('redrive-letter'),
    settled: null,
  };
}

function refuseSettled({ settled }: DeadLetterItem): void {
  if (settled)
    throw new Failure('DEAD_LETTER_SETTLED', `It was ${settled.action} by ${settled.actor} at ${new Date(settled.at).toISOString()}.`);
}

const fits = (item: DeadLetterItem, { topic, group, reason, all = false }: LetterFilter): boolean =>
  (topic === undefined || item.topic === topic) &&
  (group === undefined || item.group === group) &&
  (reason === undefined || item.reason === reason) &&
  (all || item.settled === null);

/** Time, then partition and offset: a total order, the same on every read. */
type Place = readonly [time: number, partition: bigint, offset: bigint];

function orderOf({ id, diedAt }: DeadLetterItem): Place {
  const [partition, offset] = id.split('-');
  return [diedAt, BigInt(partition!), BigInt(offset!)];
}

function placeOf(before: string): Place {
  const parts = /^(\d{1,16})-(\d{1,10})-(\d{1,20})$/.exec(before);
  if (!parts) throw new Failure('REQUEST_INVALID', '`before` is not the `nextBefore` of a page.', { param: 'before' });
  return [Number(parts[1]), BigInt(parts[2]!), BigInt(parts[3]!)];
}

function compare(a: Place, b: Place): number {
  for (const index of [0, 1, 2] as const) if (a[index] !== b[index]) return a[index] < b[index] ? -1 : 1;
  return 0;
}

/** Null if the bytes are not valid UTF-8. */
function textOf(raw: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    // Not text: the letter then shows the base64 form.
    return null;
  }
}
