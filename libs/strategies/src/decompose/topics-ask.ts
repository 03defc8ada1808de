import { PlannedTask, promptMarks as marks, Synthesis } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask } from '../asks/ask.js';
import type { PlanAsked, PlanSaid } from '../asks/asked-judge.js';
import { formNaming } from '../asks/json-form.js';
import { quotedIn } from '../prompts/attached.js';
import { fitted, type Cut } from '../prompts/fitting.js';
import { asData, bounded, dataRule, languageLine, oneLine, sections, transcript, type PromptMessage } from '../prompts/quoting.js';
import { asked as messages } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { TopicsAsked, TopicsContent } from './topics.js';
import { readTopics } from './topics-reply.js';

/** Most collections of a sub-topic. */
const mostCollections = 8;

const form = formNaming(
  'topics',
  ({ asked }: PlanAsked) => {
    const { collections, most } = TopicsAsked.parse(asked);
    return { names: collections.map(({ name }) => name), most };
  },
  (collection, most) =>
    z.strictObject({
      topics: z
        .array(z.strictObject({ topic: z.string(), query: z.string(), collections: z.array(collection).max(mostCollections) }))
        .max(most),
      synthesis: Synthesis,
    }),
);

/** Splits a question into sub-topics. */
export const topicsAsk: Ask<PlanAsked, PlanSaid> = {
  name: 'decompose',
  // Not checked: both come from the engine. The reply is checked.
  input: z.custom<PlanAsked>(),
  output: z.object({ tasks: z.array(PlannedTask), content: TopicsContent }),
  reAsks: 2,
  call: { temperature: 0, json: form },
  prompt: ({ request, asked }, room) => fitted(request.conversation, room.tokens, (cut) => render(request, TopicsAsked.parse(asked), cut)),
  read: ({ text }, { asked }) => readTopics(text, TopicsAsked.parse(asked)),
};

function render(
  { template, system, goal, language, documents }: PlanAsked['request'],
  { most, collections }: TopicsAsked,
  cut: Cut,
): readonly PromptMessage[] {
  return messages(
    sections(
      marks.roles.decomposer,
      template.planner.prompt ?? promptText('decompose', template.prompts ?? {}, { max_topics: String(most) }),
      `Collections:\n${collections.map(({ name, description }) => `- ${name}: ${oneLine(bounded(description, 300))}`).join('\n') || 'none by name; everything is searched'}`,
      dataRule,
    ),
    sections(
      cut.conversation.length > 0 ? `${marks.conversation}\n${asData(transcript(cut.conversation))}` : null,
      system ? `The client's system message, for context:\n${asData(bounded(system, 2_000))}` : null,
      `${marks.question} ${goal}`,
      quotedIn(documents),
      languageLine(language, goal, 'plan'),
    ),
  );
}
