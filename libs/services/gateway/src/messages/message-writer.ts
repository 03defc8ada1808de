import { type AnswerFacts, type Failure, type MessageEvent, messagesError, type MessageUsage, type StopReason } from '@conclave/contracts';
import { isJsonObject } from '@conclave/ports';
import type { AnswerWriter } from '../chat/answer-shape.js';
import type { ChunkFrame } from '../chat/chat-shapes.js';

type Loose = Readonly<Record<string, unknown>>;
const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

export const eventText = (event: MessageEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Usage of an answer whose server counted nothing. */
export const nothingUsed: MessageUsage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

/** Usage of a chat answer under Anthropic's names; null when there is none. */
export const usageOf = (usage: unknown): MessageUsage | null =>
  isJsonObject(usage)
    ? {
        input_tokens: count(usage['prompt_tokens']),
        output_tokens: count(usage['completion_tokens']),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      }
    : null;

export const stopReasonOf = (finish: unknown): StopReason => {
  if (finish === 'length') return 'max_tokens';
  if (finish === 'tool_calls') return 'tool_use';
  return finish === 'content_filter' ? 'refusal' : 'end_turn';
};

export interface WriterOptions {
  readonly frame: ChunkFrame;
  /** Whether progress and the thinking of a model are shown. */
  readonly thinking: boolean;
  /** Estimated tokens of the request, which clients expect before the answer. */
  readonly inputTokens: number;
  readonly requestId: string;
}

type Kind = 'text' | 'thinking' | 'tool_use';

/** Converts chat chunks to Anthropic's events: one block is open at a time and ends before the next begins. */
export class MessageWriter implements AnswerWriter {
  private index = -1;
  private open_: { readonly kind: Kind; readonly call: number | null } | null = null;
  private finish: unknown = null;
  private usage: MessageUsage | null = null;
  private facts: AnswerFacts | null = null;

  constructor(private readonly options: WriterOptions) {}

  open(): string {
    const { frame, inputTokens } = this.options;
    const usage = { ...nothingUsed, input_tokens: inputTokens };
    const message = { id: frame.id, type: 'message', role: 'assistant', model: frame.model } as const;
    return (
      eventText({ type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } }) +
      eventText({ type: 'ping' })
    );
  }

  chunk(chunk: Loose): string {
    this.usage = usageOf(chunk['usage']) ?? this.usage;
    this.facts = (chunk['conclave'] as AnswerFacts | undefined) ?? this.facts;
    const [choice] = Array.isArray(chunk['choices']) ? (chunk['choices'] as readonly unknown[]) : [];
    if (!isJsonObject(choice)) return '';
    this.finish = choice['finish_reason'] ?? this.finish;
    const delta = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const reasoning = delta['reasoning_content'] ?? delta['reasoning'];
    const calls = Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as readonly unknown[]) : [];
    return [
      this.options.thinking ? this.text('thinking', reasoning) : '',
      this.text('text', delta['content']),
      ...calls.map((call) => (isJsonObject(call) ? this.call(call) : '')),
    ].join('');
  }

  done(): string {
    const usage = this.usage ?? nothingUsed;
    const delta = { stop_reason: stopReasonOf(this.finish), stop_sequence: null };
    const facts = this.facts ? { conclave: this.facts } : {};
    return this.close() + eventText({ type: 'message_delta', delta, usage, ...facts }) + eventText({ type: 'message_stop' });
  }

  fail(failure: Failure): string {
    return this.close() + eventText(messagesError(failure, this.options.requestId));
  }

  private text(kind: 'text' | 'thinking', text: unknown): string {
    if (typeof text !== 'string' || text === '') return '';
    const begun = this.open_?.kind === kind ? '' : this.begin(kind);
    const delta = kind === 'text' ? ({ type: 'text_delta', text } as const) : ({ type: 'thinking_delta', thinking: text } as const);
    return begun + eventText({ type: 'content_block_delta', index: this.index, delta });
  }

  private call({ index, id, function: named }: Loose): string {
    const call = count(index);
    const said = isJsonObject(named) ? named : {};
    const begun =
      this.open_?.kind === 'tool_use' && this.open_.call === call
        ? ''
        : this.begin('tool_use', call, String(id ?? ''), String(said['name'] ?? ''));
    const partial = said['arguments'];
    if (typeof partial !== 'string' || partial === '') return begun;
    return (
      begun + eventText({ type: 'content_block_delta', index: this.index, delta: { type: 'input_json_delta', partial_json: partial } })
    );
  }

  private begin(kind: Kind, call: number | null = null, id = '', name = ''): string {
    const ended = this.close();
    this.index += 1;
    this.open_ = { kind, call };
    const blocks = {
      text: { type: 'text', text: '', citations: null },
      thinking: { type: 'thinking', thinking: '', signature: '' },
      tool_use: { type: 'tool_use', id, name, input: {} },
    } as const;
    return ended + eventText({ type: 'content_block_start', index: this.index, content_block: blocks[kind] });
  }

  private close(): string {
    if (!this.open_) return '';
    this.open_ = null;
    return eventText({ type: 'content_block_stop', index: this.index });
  }
}
