import { Complexity, GapDetected, PlannedTask, PlanRequested } from '@conclave/contracts';
import * as z from 'zod';
import { capabilitiesOf, maxEvidenceTasks, mostExperts } from '../plan-rules.js';
import { plannerPrompt } from '../prompts/planner-prompt.js';
import { readPlan } from '../replies/plan-reply.js';
import type { Ask } from './ask.js';
import { formNaming } from './json-form.js';

const PlanInput = z.object({
  request: PlanRequested.schema,
  gap: GapDetected.schema.nullable().describe('what is missing, for the plan of a later round'),
  complexity: Complexity,
});
const Plan = z.object({
  tasks: z.array(PlannedTask),
  searchQuestion: z.string().nullable().describe('standalone question for follow-ups, or null'),
});

/** Form of the reply. Tool arguments may be anything, so it cannot be strict. */
const formWith = <Members extends z.ZodRawShape>(members: Members) =>
  formNaming(
    'plan',
    ({ request: { template }, complexity }: z.infer<typeof PlanInput>) => ({
      names: capabilitiesOf(template),
      most: mostExperts(template, complexity) + maxEvidenceTasks + 1,
    }),
    (capability, most) =>
      z.object({
        tasks: z
          .array(
            z.object({
              id: z.string(),
              task: z.string(),
              capability,
              search_query: z.string().optional(),
              needs: z.array(z.string()).optional(),
              mcp_tool: z.string().optional(),
              mcp_args: z.looseObject({}).optional(),
              metadata_filters: z.object({}).catchall(z.string()).optional(),
              redoes: z.union([z.string(), z.array(z.string())]).optional(),
            }),
          )
          .max(most),
        ...members,
      }),
  );
const form = formWith({ search_question: z.string().optional() });
/** The first plan of a follow-up puts it in full words, because judges do not see the conversation: small models omit what is optional. */
const followUpForm = formWith({ search_question: z.string() });

/** The plan of a round. */
export const planAsk: Ask<z.infer<typeof PlanInput>, z.infer<typeof Plan>> = {
  name: 'plan',
  input: PlanInput,
  output: Plan,
  reAsks: 2,
  call: {
    temperature: 0,
    json: (input) => (input.gap === null && input.request.conversation.length > 0 ? followUpForm : form)(input),
  },
  prompt: ({ request, gap, complexity }, room) => plannerPrompt(request, gap, room.tokens, complexity),
  read: ({ text }, { request, complexity }) => {
    const plan = readPlan(text, request.template, request.goal, complexity);
    return plan.ok ? { output: { tasks: plan.tasks, searchQuestion: plan.searchQuestion } } : { faults: plan.faults };
  },
};
