import { dayOf, promptMarks as marks, PlannedTask, type ToolOffer } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask } from '../asks/ask.js';
import type { PlanAsked, PlanSaid } from '../asks/asked-judge.js';
import { formNaming } from '../asks/json-form.js';
import { quotedIn } from '../prompts/attached.js';
import { excerptOf, isExcerpt } from '../prompts/excerpt.js';
import { fitted, type Cut } from '../prompts/fitting.js';
import {
  asData,
  bounded,
  dataRule,
  languageLine,
  oneLine,
  sections,
  todayLine,
  transcript,
  type PromptMessage,
} from '../prompts/quoting.js';
import { asked as messages } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { mostCalls, WaveAsked, WaveContent, type KnownCall } from './wave-plan.js';
import { readWave } from './wave-reply.js';

/** Characters of one result in an uncut prompt, and of all results together. */
const resultLength = 2_000;
const resultsLength = 16_000;

/** Form of the reply. Tool arguments may be anything, so it cannot be strict. */
const form = formNaming(
  'wave',
  ({ request }: PlanAsked) => ({ names: (request.template.tools ?? []).map(({ name }) => name), most: mostCalls }),
  (tool, most) =>
    z.object({
      status: z.enum(['continue', 'done']),
      action: z.string(),
      slots: z.looseObject({}).optional(),
      tools: z.array(z.object({ id: z.string(), tool, args: z.looseObject({}), needs: z.array(z.string()).optional() })).max(most),
      reasoning: z.string(),
    }),
);

/** Plans the calls of the next wave from earlier results. */
export const waveAsk: Ask<PlanAsked, PlanSaid> = {
  name: 'waves',
  // Not checked: both come from the engine. The reply is checked.
  input: z.custom<PlanAsked>(),
  output: z.object({ tasks: z.array(PlannedTask), content: WaveContent }),
  reAsks: 2,
  call: { temperature: 0, json: form },
  prompt: ({ request, asked }, room) => fitted(request.conversation, room.tokens, (cut) => render(request, WaveAsked.parse(asked), cut)),
  read: ({ text }, { request, asked }) => readWave(text, request.template, WaveAsked.parse(asked)),
};

function render(
  { template, system, goal, requestedAt, language, documents }: PlanAsked['request'],
  asked: WaveAsked,
  cut: Cut,
): readonly PromptMessage[] {
  const bounds = { max_calls: String(mostCalls) };
  return messages(
    sections(
      marks.roles.waves,
      template.planner.prompt ?? promptText('waves', template.prompts ?? {}, bounds),
      `${marks.tools}\n${(template.tools ?? []).map(toolLine).join('\n') || 'none'}`,
      dataRule,
      todayLine(dayOf(requestedAt)),
    ),
    sections(
      cut.conversation.length > 0 ? `${marks.conversation}\n${asData(transcript(cut.conversation))}` : null,
      system ? `The client's system message, for context:\n${asData(bounded(system, 2_000))}` : null,
      `${marks.question} ${goal}`,
      quotedIn(documents),
      `This is wave ${asked.wave} of at most ${asked.of}.`,
      Object.keys(asked.slots).length > 0 ? `Parameters so far:\n${asData(bounded(JSON.stringify(asked.slots), 2_000))}` : null,
      asked.said.length > 0 ? `What was done so far:\n${asData(asked.said.map(saidLine).join('\n'))}` : null,
      asked.calls.length > 0 ? `${marks.results}\n${asData(resultLines(asked.calls, cut.scale, goal))}` : null,
      languageLine(language, goal, 'calls'),
    ),
  );
}

const toolLine = ({ name, signature, description, repeatable }: ToolOffer): string =>
  `- ${name}(${signature}): ${oneLine(bounded(description, 300))}${repeatable === false ? ' (changes something)' : ''}`;

const saidLine = ({ action, reasoning }: WaveAsked['said'][number], index: number): string =>
  `${index + 1}. ${bounded(oneLine(action), 300)}${reasoning === '' ? '' : ` (${bounded(oneLine(reasoning), 500)})`}`;

/** A result of a tool as far as it fits; the planner must know that more is in it. */
const shortened = (text: string, length: number, goal: string): string =>
  text.length <= length && !isExcerpt(text) ? text : `${excerptOf(text, length, goal)} ${moreIn}`;
const moreIn =
  '[cut: call the tool for less or for another part, or write {{id.path.to.value}} as an argument for a value that you know is there]';

/** Every result once, in the order of the calls; shortened equally if they are too long together. */
function resultLines(calls: readonly KnownCall[], scale: number, goal: string): string {
  const length = Math.round(scale * Math.min(resultLength, Math.max(200, resultsLength / calls.length)));
  return calls
    .map(({ id, tool, args, status, text }) => {
      const call = `${id} ${tool} ${bounded(JSON.stringify(args), 400)}`;
      return `${call} -> ${status === 'error' ? 'error: ' : ''}${shortened(text.trim(), length, goal)}`;
    })
    .join('\n');
}
