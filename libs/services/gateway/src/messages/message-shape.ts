import type { AnswerFacts, AnsweredBlock, MessageAnswer } from '@conclave/contracts';
import { isJsonObject } from '@conclave/ports';
import type { AnswerShape } from '../chat/answer-shape.js';
import { type ChatFields, namedAsSent } from '../chat/chat-fields.js';
import { eventText, MessageWriter, nothingUsed, stopReasonOf, usageOf, type WriterOptions } from './message-writer.js';

type Loose = Readonly<Record<string, unknown>>;

/** Answers in the shape of Anthropic's Messages API. */
export const messageShape = (fields: ChatFields, options: Omit<WriterOptions, 'frame'>): AnswerShape => ({
  prefix: 'msg_',
  heartbeat: eventText({ type: 'ping' }),
  // Tags in a text and status events are formats of other front ends.
  modeOf: (mode) => (mode === 'none' ? mode : 'reasoning'),
  writer: (frame) => new MessageWriter({ ...options, frame }),
  whole: (completion, { id, model }): MessageAnswer => {
    const [choice] = Array.isArray(completion['choices']) ? (completion['choices'] as readonly unknown[]) : [];
    const { message, finish_reason: finish } = isJsonObject(choice) ? choice : {};
    const facts = completion['conclave'] as AnswerFacts | undefined;
    return {
      ...({ id, type: 'message', role: 'assistant', model } as const),
      content: isJsonObject(message) ? [...blocksOf(message, options.thinking)] : [],
      stop_reason: stopReasonOf(finish),
      stop_sequence: null,
      usage: usageOf(completion['usage']) ?? nothingUsed,
      ...(facts ? { conclave: facts } : {}),
    };
  },
  named: (failure) => namedAsSent(failure, fields),
});

function blocksOf(message: Loose, thinking: boolean): readonly AnsweredBlock[] {
  const reasoning = message['reasoning_content'] ?? message['reasoning'];
  const { content, tool_calls: calls } = message;
  return [
    ...(thinking && typeof reasoning === 'string' && reasoning !== ''
      ? [{ type: 'thinking' as const, thinking: reasoning, signature: '' }]
      : []),
    ...(typeof content === 'string' && content !== '' ? [{ type: 'text' as const, text: content, citations: null }] : []),
    ...(Array.isArray(calls) ? calls.filter(isJsonObject).map(callBlock) : []),
  ];
}

function callBlock({ id, function: named }: Loose): AnsweredBlock {
  const { name, arguments: text } = isJsonObject(named) ? named : {};
  return { type: 'tool_use', id: String(id ?? ''), name: String(name ?? ''), input: argumentsOf(text) };
}

/** Arguments that a model wrote; empty when they are not a JSON object. */
function argumentsOf(text: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(typeof text === 'string' ? text : '{}');
    return isJsonObject(value) ? { ...value } : {};
  } catch {
    // decided: a model that writes invalid arguments still called its tool; the client gets the call without them
    return {};
  }
}
