import type { AnswerFacts, Caller, ResponseItem, ResponseRequest, UrlCitation } from '@conclave/contracts';
import { isJsonObject } from '@conclave/ports';
import type { AnswerShape } from '../chat/answer-shape.js';
import { type ChatFields, namedAsSent } from '../chat/chat-fields.js';
import type { ChunkFrame } from '../chat/chat-shapes.js';
import { calledNames } from './namespaced-tools.js';
import { endingOf, headOf, messageItem, type ResponseEnd, responseOf, suffixOf, textPart, usageOf } from './response-object.js';
import { ResponseWriter } from './response-writer.js';
import { itemsOf, type Loose } from './responses-request.js';
import { keptItems, type StoredResponse, type StoredResponses } from './stored-responses.js';

export interface ShapedRequest {
  readonly request: ResponseRequest;
  readonly fields: ChatFields;
  readonly caller: Caller;
  /** Whether progress and the thinking of a model are shown. */
  readonly reasoning: boolean;
}

/** The fields of a request that are stored once its response has an id. */
export const storedOf = (
  { request, fields }: Pick<ShapedRequest, 'request' | 'fields'>,
  frame: ChunkFrame,
  runId: string | null,
): StoredResponse => ({
  runId,
  head: headOf(request, frame),
  input: keptItems(itemsOf(request), suffixOf(frame.id)),
  messages: (fields.body['messages'] as readonly Loose[]).filter((_, at) => fields.paths[at] !== 'instructions'),
  end: null,
});

/** Answers in the shape of OpenAI's Responses API, stored unless the request disables that. */
export function responseShape(asked: ShapedRequest, stored: StoredResponses): AnswerShape {
  const { request, fields, caller, reasoning } = asked;
  const keeps = request.store !== false;
  let writer: ResponseWriter | null = null;
  let answeredAt: number | null = null;
  /** The run of this answer, which it is deleted with. */
  let run: string | null = null;
  /** The end of a whole answer, the same each time it is asked for. */
  const endIn = (completion: Loose, id: string): ResponseEnd => ({
    ...endOf(completion, id, asked),
    completedAt: (answeredAt ??= Date.now()),
  });
  return {
    prefix: 'resp_',
    // Tags in a text and status events are formats of other front ends.
    modeOf: (mode) => (mode === 'none' ? mode : 'reasoning'),
    writer: (frame) => (writer = new ResponseWriter(headOf(request, frame), reasoning)),
    whole: (completion, frame) => responseOf(headOf(request, frame), endIn(completion, frame.id)),
    begun: async (frame, runId) => {
      run = runId;
      if (keeps && runId !== null) await stored.keep(caller.tenant, storedOf(asked, frame, runId));
    },
    ended: async (frame, completion) => {
      if (!keeps) return;
      const end = completion ? endIn(completion, frame.id) : writer!.end;
      await stored.keep(caller.tenant, { ...storedOf(asked, frame, run), end });
    },
    named: (failure) => namedAsSent(failure, fields),
  };
}

/** The end of a response from a whole chat answer. */
function endOf(completion: Loose, id: string, asked: Pick<ShapedRequest, 'request' | 'reasoning'>): ResponseEnd {
  const [choice] = Array.isArray(completion['choices']) ? (completion['choices'] as readonly unknown[]) : [];
  const { message, finish_reason: finish } = isJsonObject(choice) ? choice : {};
  const ending = endingOf(finish);
  const output = isJsonObject(message) ? itemsOfMessage(message, id, ending.status, asked) : [];
  return { ...ending, output, usage: usageOf(completion['usage']), facts: completion['conclave'] as AnswerFacts | undefined };
}

function itemsOfMessage(
  message: Loose,
  id: string,
  status: 'completed' | 'incomplete',
  { request, reasoning }: Pick<ShapedRequest, 'request' | 'reasoning'>,
): readonly ResponseItem[] {
  const { content, annotations, tool_calls: calls } = message;
  const thought = message['reasoning_content'] ?? message['reasoning'];
  const suffix = suffixOf(id);
  const namesOf = calledNames(request.tools);
  const cited = Array.isArray(annotations) ? (annotations as readonly UrlCitation[]) : [];
  return [
    ...(reasoning && typeof thought === 'string' && thought !== ''
      ? [{ id: `rs_${suffix}`, type: 'reasoning' as const, summary: [{ type: 'summary_text' as const, text: thought }] }]
      : []),
    ...(typeof content === 'string' && content !== '' ? [messageItem(id, status, [textPart(content, cited)])] : []),
    ...(Array.isArray(calls) ? calls.filter(isJsonObject).map((call, at) => callItem(call, `fc_${suffix}_${at}`, namesOf)) : []),
  ];
}

function callItem({ id: callId, function: named }: Loose, id: string, namesOf: ReturnType<typeof calledNames>): ResponseItem {
  const { name, arguments: text } = isJsonObject(named) ? named : {};
  const called = { call_id: String(callId ?? ''), ...namesOf(name), arguments: typeof text === 'string' ? text : '' };
  return { id, type: 'function_call', ...called, status: 'completed' };
}
