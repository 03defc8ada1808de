import type { AnswerFacts, Failure, ResponseEvent, ResponseItem, ResponseRequest, ResponseUsage, UrlCitation } from '@conclave/contracts';
import { isJsonObject } from '@conclave/ports';
import type { AnswerWriter } from '../chat/answer-shape.js';
import { calledNames } from './namespaced-tools.js';
import {
  endingOf,
  failureIn,
  messageItem,
  type ResponseEnd,
  type ResponseHead,
  responseOf,
  suffixOf,
  textPart,
  usageOf,
} from './response-object.js';
import { begun, closing, eventText, type Unnumbered } from './response-events.js';
import type { Loose } from './responses-request.js';

type Call = Extract<ResponseItem, { type: 'function_call' }>;
/** The item that is being written. */
type Open =
  | { readonly kind: 'reasoning'; text: string }
  | { readonly kind: 'message'; text: string; readonly citations: UrlCitation[] }
  | { readonly kind: 'call'; readonly index: number; item: Call };

/** Converts chat chunks to the events of the Responses API: one item is open at a time, and numbers have no gaps. */
export class ResponseWriter implements AnswerWriter {
  private sequence = 0;
  private readonly output: ResponseItem[] = [];
  private item: Open | null = null;
  private finish: unknown = null;
  private finishedAt: number | null = null;
  private usage: ResponseUsage | null = null;
  private facts: AnswerFacts | undefined;
  private readonly namesOf: ReturnType<typeof calledNames>;

  constructor(
    private readonly head: ResponseHead,
    /** Whether progress and the thinking of a model are shown. */
    private readonly reasoning: boolean,
  ) {
    this.namesOf = calledNames(head.tools as ResponseRequest['tools']);
  }

  /** The written answer; nothing follows it. */
  get end(): ResponseEnd {
    const output = this.item ? [...this.output, this.whole(this.item)] : this.output;
    return { ...endingOf(this.finish), completedAt: this.finishedAt, output, usage: this.usage, facts: this.facts };
  }

  open(): string {
    return begun(this.head)
      .map((event) => this.numbered(event))
      .join('');
  }

  chunk(chunk: Loose): string {
    this.usage = usageOf(chunk['usage']) ?? this.usage;
    this.facts = (chunk['conclave'] as AnswerFacts | undefined) ?? this.facts;
    const [choice] = Array.isArray(chunk['choices']) ? (chunk['choices'] as readonly unknown[]) : [];
    if (!isJsonObject(choice)) return '';
    this.finish = choice['finish_reason'] ?? this.finish;
    if (this.finish) this.finishedAt ??= Date.now();
    const delta = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const calls = Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as readonly unknown[]) : [];
    return [
      this.reasoning ? this.think(delta['reasoning_content'] ?? delta['reasoning']) : '',
      this.say(delta['content'], delta['annotations']),
      ...calls.map((call) => (isJsonObject(call) ? this.call(call) : '')),
    ].join('');
  }

  done(): string {
    const ended = this.close();
    const { end } = this;
    return (
      ended + this.event(`response.${end.status === 'incomplete' ? 'incomplete' : 'completed'}`, { response: responseOf(this.head, end) })
    );
  }

  fail(failure: Failure): string {
    const { output, usage } = this;
    return this.event('response.failed', {
      response: responseOf(this.head, { status: 'failed', output, usage, failure: failureIn(failure) }),
    });
  }

  /** Closes the open item. */
  private close(): string {
    const { item } = this;
    if (!item) return '';
    const whole = this.whole(item);
    this.item = null;
    const events = closing(whole, this.output.length).map((event) => this.numbered(event));
    this.output.push(whole);
    return events.join('');
  }

  /** The open item as it would be if it were closed now. */
  private whole(item: Open): ResponseItem {
    switch (item.kind) {
      case 'reasoning':
        return { id: this.idOf('rs'), type: 'reasoning', summary: [{ type: 'summary_text', text: item.text }] };
      case 'message': {
        const { status } = endingOf(this.finish);
        return { ...messageItem(this.head.id, status, [textPart(item.text, item.citations)]), id: this.messageId() } as ResponseItem;
      }
      case 'call':
        return { ...item.item, status: 'completed' };
    }
  }

  private think(text: unknown): string {
    if (typeof text !== 'string' || text === '') return '';
    const at = { item_id: this.idOf('rs'), output_index: this.output.length, summary_index: 0 };
    let begun = '';
    if (this.item?.kind !== 'reasoning') {
      begun = this.close();
      this.item = { kind: 'reasoning', text: '' };
      at.output_index = this.output.length;
      at.item_id = this.idOf('rs');
      begun += this.added({ id: at.item_id, type: 'reasoning', summary: [] });
      begun += this.event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
    }
    (this.item as Extract<Open, { kind: 'reasoning' }>).text += text;
    return begun + this.event('response.reasoning_summary_text.delta', { ...at, delta: text });
  }

  private say(text: unknown, annotations: unknown): string {
    const cited = Array.isArray(annotations) ? (annotations as readonly UrlCitation[]) : [];
    const said = typeof text === 'string' ? text : '';
    if (said === '' && cited.length === 0) return '';
    let events = '';
    if (this.item?.kind !== 'message') {
      events = this.close();
      this.item = { kind: 'message', text: '', citations: [] };
      events += this.added({ ...messageItem(this.head.id, 'in_progress', []), id: this.messageId() } as ResponseItem);
      events += this.event('response.content_part.added', { ...this.place(), part: textPart('', []) });
    }
    const item = this.item as Extract<Open, { kind: 'message' }>;
    item.text += said;
    if (said !== '') events += this.event('response.output_text.delta', { ...this.place(), delta: said, logprobs: [] });
    for (const citation of cited) {
      const [annotation] = textPart('', [citation]).annotations;
      events += this.event('response.output_text.annotation.added', {
        ...this.place(),
        annotation_index: item.citations.length,
        annotation,
      });
      item.citations.push(citation);
    }
    return events;
  }

  private call({ index, id, function: named }: Loose): string {
    const at = typeof index === 'number' ? index : 0;
    const said = isJsonObject(named) ? named : {};
    let events = '';
    if (this.item?.kind !== 'call' || this.item.index !== at) {
      events = this.close();
      const item: Call = {
        ...{ id: this.idOf('fc'), type: 'function_call', call_id: String(id ?? ''), ...this.namesOf(said['name']) },
        ...{ arguments: '', status: 'in_progress' },
      } as Call;
      this.item = { kind: 'call', index: at, item };
      events += this.added(item);
    }
    const { item } = this.item;
    const delta = said['arguments'];
    if (typeof delta !== 'string' || delta === '') return events;
    this.item.item = { ...item, arguments: item.arguments + delta };
    return events + this.event('response.function_call_arguments.delta', { item_id: item.id, output_index: this.output.length, delta });
  }

  private readonly idOf = (prefix: string): string =>
    `${prefix}_${suffixOf(this.head.id)}${this.output.length === 0 ? '' : `_${this.output.length}`}`;
  /** The id of the only message in the response of a stored run. */
  private readonly messageId = (): string =>
    this.output.some(({ type }) => type === 'message') ? this.idOf('msg') : `msg_${suffixOf(this.head.id)}`;
  private place(id = this.messageId()): { readonly item_id: string; readonly output_index: number; readonly content_index: 0 } {
    return { item_id: id, output_index: this.output.length, content_index: 0 };
  }

  private added(item: ResponseItem): string {
    return this.event('response.output_item.added', { output_index: this.output.length, item });
  }

  private event(type: ResponseEvent['type'], members: Loose): string {
    return this.numbered([type, members]);
  }

  private numbered(event: Unnumbered): string {
    const text = eventText(event, this.sequence);
    this.sequence += 1;
    return text;
  }
}
