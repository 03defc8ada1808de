import type { ResponseEvent, ResponseItem } from '@conclave/contracts';
import { type ResponseEnd, type ResponseHead, responseOf } from './response-object.js';
import type { Loose } from './responses-request.js';

/** An event before it has a number. */
export type Unnumbered = readonly [type: ResponseEvent['type'], members: Loose];

/** An event as a whole server-sent event. */
export const eventText = ([type, members]: Unnumbered, sequence: number): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`;

/** The events that end the output item at this position: its whole text, its whole part, the item itself. */
export function closing(item: ResponseItem, at: number): readonly Unnumbered[] {
  const place = { item_id: item.id, output_index: at };
  const done: Unnumbered = ['response.output_item.done', { output_index: at, item }];
  switch (item.type) {
    case 'reasoning': {
      const [part] = item.summary;
      const text = { ...place, summary_index: 0, text: part!.text };
      return [
        ['response.reasoning_summary_text.done', text],
        ['response.reasoning_summary_part.done', { ...place, summary_index: 0, part }],
        done,
      ];
    }
    case 'message': {
      const [part] = item.content;
      return [
        ['response.output_text.done', { ...place, content_index: 0, text: part!.text, logprobs: [] }],
        ['response.content_part.done', { ...place, content_index: 0, part }],
        done,
      ];
    }
    case 'function_call':
      return [['response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments }], done];
  }
}

/** The events that begin an item, and its text in one piece. */
function opening(item: ResponseItem, at: number): readonly Unnumbered[] {
  const place = { item_id: item.id, output_index: at };
  const added = (empty: ResponseItem): Unnumbered => ['response.output_item.added', { output_index: at, item: empty }];
  switch (item.type) {
    case 'reasoning': {
      const here = { ...place, summary_index: 0 };
      return [
        added({ ...item, summary: [] }),
        ['response.reasoning_summary_part.added', { ...here, part: { type: 'summary_text', text: '' } }],
        ['response.reasoning_summary_text.delta', { ...here, delta: item.summary[0]!.text }],
      ];
    }
    case 'message': {
      const here = { ...place, content_index: 0 };
      const { text, annotations } = item.content[0]!;
      return [
        added({ ...item, status: 'in_progress', content: [] }),
        ['response.content_part.added', { ...here, part: { ...item.content[0]!, text: '', annotations: [] } }],
        ['response.output_text.delta', { ...here, delta: text, logprobs: [] }],
        ...annotations.map((annotation, index): Unnumbered => [
          'response.output_text.annotation.added',
          { ...here, annotation_index: index, annotation },
        ]),
      ];
    }
    case 'function_call':
      return [
        added({ ...item, arguments: '', status: 'in_progress' }),
        ['response.function_call_arguments.delta', { ...place, delta: item.arguments }],
      ];
  }
}

/** The events with which every stream of a response begins. */
export const begun = (head: ResponseHead): readonly Unnumbered[] => {
  const response = responseOf(head, { status: 'in_progress', output: [], usage: null });
  return [
    ['response.created', { response }],
    ['response.in_progress', { response }],
  ];
};

/** The events of an ended response: always the same ones. A cancelled response ends like a failed one. */
export function eventsOf(head: ResponseHead, end: ResponseEnd): readonly Unnumbered[] {
  const last = end.status === 'completed' || end.status === 'incomplete' ? end.status : 'failed';
  return [
    ...begun(head),
    ...end.output.flatMap((item, at) => [...opening(item, at), ...closing(item, at)]),
    [`response.${last}`, { response: responseOf(head, end) }],
  ];
}
