import { PlannedTask, promptMarks as marks } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask, ParsedReply } from '../asks/ask.js';
import type { PlanAsked, PlanSaid } from '../asks/asked-judge.js';
import { jsonForm } from '../asks/json-form.js';
import { fitted } from '../prompts/fitting.js';
import { asData, bounded, dataRule, sections, transcript } from '../prompts/quoting.js';
import { asked as messages } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject } from '../replies/names.js';
import { QuestionClass } from './question-class.js';

/** Content of the router's plan, which has no tasks. */
export const RouteContent = z.object({ class: QuestionClass.nullable().describe('null if the reply could not be read') });

const form = jsonForm('route', z.strictObject({ class: QuestionClass }));

/** Asks a model what kind of research a question needs. */
export const routeAsk: Ask<PlanAsked, PlanSaid> = {
  name: 'route',
  // Not checked: it comes from the engine. The reply is checked.
  input: z.custom<PlanAsked>(),
  output: z.object({ tasks: z.array(PlannedTask), content: RouteContent }),
  reAsks: 1,
  call: { temperature: 0, json: () => form },
  prompt: ({ request: { template, goal, conversation } }, room) =>
    fitted(conversation, room.tokens, (cut) =>
      messages(
        sections(marks.roles.classifier, promptText('route', template.prompts ?? {}), dataRule),
        sections(
          cut.conversation.length > 0 ? `${marks.conversation}\n${asData(transcript(cut.conversation))}` : null,
          `${marks.question} ${bounded(goal, 4_000)}`,
        ),
      ),
    ),
  read: ({ text }) => readRoute(text),
};

/** Reads the class from JSON, or from a reply that names exactly one class. */
export function readRoute(reply: string): ParsedReply<PlanSaid> {
  const value = jsonIn(reply);
  const said = isObject(value) ? (value['class'] ?? value['query_type'] ?? value['type']) : undefined;
  const text = (typeof said === 'string' ? said : reply).toLowerCase().replace(/[\s-]+/g, '_');
  const named = QuestionClass.options.filter((one) => text.includes(one));
  return named.length === 1
    ? { output: { tasks: [], content: { class: named[0]! } } }
    : { faults: [`"class" must be one of: ${QuestionClass.options.join(', ')}.`] };
}
