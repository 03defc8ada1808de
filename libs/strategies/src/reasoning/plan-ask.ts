import { PlannedTask, promptMarks as marks } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask } from '../asks/ask.js';
import type { PlanAsked, PlanSaid } from '../asks/asked-judge.js';
import { formNaming } from '../asks/json-form.js';
import { quotedIn } from '../prompts/attached.js';
import { fitted } from '../prompts/fitting.js';
import { asData, sections, transcript } from '../prompts/quoting.js';
import { doneText, listText, phase } from './render.js';
import { readPlan } from './replies.js';
import { PlanContent, PlanInput } from './values.js';

const form = formNaming(
  'reasoning_plan',
  ({ asked }: PlanAsked) => {
    const { offered, maxSteps } = PlanInput.parse(asked);
    return { names: offered.map(({ name }) => name), most: maxSteps };
  },
  (capability, most) =>
    z.object({
      steps: z.array(z.object({ capability, input_description: z.string(), reason: z.string() })).max(most),
      working_memory: z.string(),
      error: z.string().optional(),
      reason: z.string().optional(),
    }),
);

/** Plans the steps that lead to the goal; the steps are held, not dispatched. */
export const reasoningPlanAsk: Ask<PlanAsked, PlanSaid> = {
  name: 'reasoning.planning',
  // Not checked: both come from the engine. The reply is checked.
  input: z.custom<PlanAsked>(),
  output: z.object({ tasks: z.array(PlannedTask), content: PlanContent }),
  reAsks: 2,
  call: { temperature: 0, json: form },
  prompt: ({ request, asked }, room) => {
    const input = PlanInput.parse(asked);
    return fitted(request.conversation, room.tokens, (cut) =>
      phase(
        {
          role: marks.roles.reasoner,
          prompt: 'reasoning.planning',
          overrides: request.template.prompts ?? {},
          values: { max_steps: String(input.maxSteps) },
        },
        // The planner sees the whole conversation.
        { ...input, before: [] },
        cut.conversation.length > 0 ? `${marks.conversation}\n${asData(transcript(cut.conversation))}` : null,
        request.system ? `The client's system message, for context:\n${asData(request.system.slice(0, 2_000))}` : null,
        quotedIn(request.documents),
        `${marks.capabilities}\n${input.offered.map(({ name, about }) => `- ${name}: ${about}`).join('\n') || 'none'}`,
        listText('Known before the run:', input.prior),
        doneText(input.done, Math.round(300 * cut.scale)),
        input.reason === null ? null : sections(`Another plan is needed: ${input.reason}`),
        listText('Forbidden now, because it was tried:', input.forbidden),
      ),
    );
  },
  read: ({ text }, { asked }) => {
    const { offered, maxSteps } = PlanInput.parse(asked);
    const read = readPlan(
      text,
      offered.map(({ name }) => name),
      maxSteps,
    );
    return 'faults' in read ? read : { output: { tasks: [], content: read.output } };
  },
};
