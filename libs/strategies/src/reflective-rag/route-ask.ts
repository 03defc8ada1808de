import { promptMarks as marks, type PlanRequested, PlannedTask } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask, ParsedReply } from '../asks/ask.js';
import type { PlanAsked, PlanSaid } from '../asks/asked-judge.js';
import { formNaming } from '../asks/json-form.js';
import { fitted, type Cut } from '../prompts/fitting.js';
import { asData, bounded, dataRule, oneLine, sections, transcript, type PromptMessage } from '../prompts/quoting.js';
import { asked as messages } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { jsonIn } from '../replies/json-reply.js';
import { labelledMembers, labelledValues, type Label } from '../replies/labelled-fields.js';
import { QuestionClass, RagAsked, RagContent, type Place } from './rag-shapes.js';

/** Longest query of a follow-up, in characters. */
const longestQuery = 400;

const form = formNaming(
  'route',
  ({ asked }: PlanAsked) => {
    const names = namesOf(RagAsked.parse(asked).places);
    return { names, most: names.length };
  },
  (collection, most) => z.strictObject({ class: QuestionClass, collections: z.array(collection).max(most), query: z.string() }),
);

/** Asks what kind of question it is and where to look it up. */
export const routeAsk: Ask<PlanAsked, PlanSaid> = {
  name: 'rag.route',
  // Not checked: both come from the engine. The reply is checked.
  input: z.custom<PlanAsked>(),
  output: z.object({ tasks: z.array(PlannedTask), content: RagContent }),
  reAsks: 2,
  call: { temperature: 0, json: form },
  prompt: ({ request, asked }, room) => fitted(request.conversation, room.tokens, (cut) => render(request, RagAsked.parse(asked), cut)),
  read: ({ text }, { request, asked }) => {
    const route = readRoute(text, RagAsked.parse(asked), request);
    return 'faults' in route ? route : { output: { tasks: [], content: route.output } };
  },
};

function render({ template, system, goal }: PlanAsked['request'], { query, places }: RagAsked, cut: Cut): readonly PromptMessage[] {
  return messages(
    sections(
      marks.roles.router,
      template.planner.prompt ?? promptText('rag.route', template.prompts ?? {}),
      `${marks.collections}\n${places.map(({ name, description }) => `- ${name}: ${oneLine(bounded(description, 300))}`).join('\n')}`,
      dataRule,
    ),
    sections(
      cut.conversation.length > 0 ? `${marks.conversation}\n${asData(transcript(cut.conversation))}` : null,
      system ? `The client's system message, for context:\n${asData(bounded(system, 2_000))}` : null,
      `${marks.question} ${goal}`,
      query === null ? null : `${marks.query} ${query}`,
    ),
  );
}

const labels: readonly Label[] = [
  ...['class', 'question class', 'query type', 'question type', 'type', 'category', 'klasse', 'typ'].map((words) => ({
    field: 'class',
    words,
  })),
  ...['collections', 'collection', 'sources', 'sammlungen'].map((words) => ({ field: 'collections', words })),
  ...['query', 'search query', 'suchanfrage'].map((words) => ({ field: 'query', words })),
];

const classWords: readonly (readonly [RegExp, QuestionClass])[] = [
  [/\bdeep[\s_-]?dives?\b/i, 'deep_dive'],
  [/\bcompar(?:ative|ison|e)\b/i, 'comparative'],
  [/\bexplor(?:atory|ation|e)\b/i, 'exploratory'],
  [/\bfact(?:ual|oid)?\b/i, 'factual'],
];

/** The class that a text names; null for none or several. */
function classIn(text: string): QuestionClass | null {
  const found = classWords.flatMap(([words, name]) => (words.test(text) ? [name] : []));
  return found.length === 1 ? found[0]! : null;
}

/** Characters up to which a reply without labels is read: a longer one may mention classes in passing. */
const longestBare = 300;

/**
 * Reads class and collections of a reply in any form: JSON, labelled lines, one line, a bare sentence. No collection means all of them, and
 * so does the `name` of the format;
 * the query counts only for a follow-up on the first pass, because elsewhere the question's own words find more.
 */
function readRoute(reply: string, { query, places }: RagAsked, { goal, conversation }: PlanRequested['data']): ParsedReply<RagContent> {
  const json = labelledMembers(jsonIn(reply), labels);
  const fields = json.some(({ field }) => field === 'class') ? json : labelledValues(reply, labels);
  const given = (field: string): string | undefined => fields.findLast((one) => one.field === field)?.value;
  const isBare = reply.trim().length <= longestBare;
  const named = classIn(given('class') ?? (isBare ? reply : ''));
  if (named === null) return { faults: [`"class" must be one of: ${QuestionClass.options.join(', ')}.`] };
  const wanted = given('collections') ?? (isBare ? reply : '');
  const chosen = places.filter(({ name }) => names(wanted, name));
  const isChoice =
    given('collections') !== undefined && /[\p{L}\p{N}]/u.test(wanted) && !/^\W*(?:all|any|alle|none|every|names?)\b/iu.test(wanted);
  if (chosen.length === 0 && isChoice)
    return { faults: [`There is no collection "${bounded(wanted, 100)}". Use some of: ${places.map(({ name }) => name).join(', ')}.`] };
  const own = query === null && conversation.length > 0 ? oneLine(given('query') ?? '').slice(0, longestQuery) : '';
  return { output: { class: named, collections: namesOf(chosen.length > 0 ? chosen : places), query: query ?? (own || goal) } };
}

const namesOf = (places: readonly Place[]): string[] => places.map(({ name }) => name);

/** Whether a text contains a name as a whole word. */
function names(text: string, name: string): boolean {
  const at = text.toLowerCase().indexOf(name.toLowerCase());
  if (at < 0) return false;
  const isInWord = (sign: string | undefined): boolean => sign !== undefined && /[\p{L}\p{N}_-]/u.test(sign);
  return !(isInWord(text[at - 1]) || isInWord(text[at + name.length])) || names(text.slice(at + 1), name);
}
