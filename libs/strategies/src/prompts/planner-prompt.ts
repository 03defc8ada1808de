import type { GapDetected, PlanRequested } from '@conclave/contracts';
import { promptMarks as marks } from '@conclave/contracts';
import { capabilitiesOf, isExpert, maxEvidenceTasks, maxExpertTasks } from '@conclave/loop';
import { fitted, type Cut } from './fitting.js';
import { asData, bounded, dataRule, numberedFacts, oneLine, sections, transcript, type PromptMessage } from './quoting.js';

/** What each evidence capability is for, as the planner reads it. */
const evidenceCapabilities: Readonly<Record<string, string>> = {
  research: 'searches documents or the web; give `search_query`, a few concrete words',
};

const rules = `Split the question into the fewest tasks that answer it. Reply with JSON only:
{"tasks":[{"id":"r1","task":"what to find out","capability":"research","search_query":"words to search"},
          {"id":"x1","task":"what the expert is to answer","capability":"expert.general"}]}
Rules:
- A simple question is exactly one task.
- At most ${maxExpertTasks} expert tasks and ${maxEvidenceTasks} evidence tasks.
- Experts get the results of all evidence tasks of this plan; write "needs": [] for a task that must not wait for them.
- When a later search depends on the result of an earlier one, plan only the first search: you are asked again.
- Copy numeric constraints (dates, amounts, limits) into every task they concern.
- Use only the capabilities listed. Ids are short and unique.`;

/** What makes a question that leans on earlier turns searchable. */
const followUpRule =
  'The question continues a conversation. Add "search_question" beside "tasks": the question in full words, clear without the conversation.';

/** Messages of the first plan, or of a re-plan when `gap` is given, of at most so many tokens as far as that is possible. */
export const plannerPrompt = (
  request: PlanRequested['data'],
  gap: GapDetected['data'] | null,
  promptTokens = Number.POSITIVE_INFINITY,
): readonly PromptMessage[] => fitted(request.conversation, promptTokens, (cut) => render(request, gap, cut));

function render(request: PlanRequested['data'], gap: GapDetected['data'] | null, cut: Cut): readonly PromptMessage[] {
  const { template } = request;
  const catalogue = capabilitiesOf(template)
    .map(
      (name) =>
        `- ${name}: ${isExpert(name) ? `an expert model for ${name.slice('expert.'.length).replaceAll('_', ' ')}` : (evidenceCapabilities[name] ?? 'a tool')}`,
    )
    .join('\n');
  const system = sections(
    gap ? iterationBlock(gap, cut.scale) : null,
    marks.roles.planner,
    template.planner.prompt ?? rules,
    !gap && request.conversation.length > 0 ? followUpRule : null,
    `${marks.capabilities}\n${catalogue}`,
    dataRule,
  );
  const user = sections(
    cut.conversation.length > 0 ? `Earlier conversation:\n${asData(transcript(cut.conversation))}` : null,
    request.system ? `The client's system message, for context:\n${asData(bounded(request.system, 2_000))}` : null,
    `${marks.question} ${request.goal}`,
    gap?.memory.searchQuestion ? `The question in full words: ${oneLine(bounded(gap.memory.searchQuestion, 500))}` : null,
    gap ? `Budget left: ${gap.left.model_calls} model calls, ${gap.left.tokens} tokens, ${gap.left.wall_time_s} seconds.` : null,
  );
  return [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
}

/** The context block of a re-plan (moe.md, Planner), with the detector's next focus and what was tried. */
function iterationBlock(gap: GapDetected['data'], scale: number): string {
  const findings = numberedFacts(gap.memory.facts.slice().reverse().slice(0, 20), Math.round(500 * scale));
  const tried = gap.memory.tried.map((action) => `- ${bounded(oneLine(action.argument), 200)}`);
  return [
    marks.replan.head(gap.iteration, gap.max),
    marks.replan.established,
    asData(findings || 'none'),
    marks.replan.unresolved,
    asData(bounded(gap.gap, 1_000)),
    marks.replan.instructions,
    'Do NOT repeat subtasks that are already answered.',
    'Use web_researcher or precision_tools to fetch missing data.',
    `${marks.replan.nextFocus} ${bounded(gap.nextFocus.replace(/\s+/g, ' '), 400)}`,
    marks.replan.tried,
    ...(tried.length > 0 ? tried : ['- none']),
    ...(gap.forbidden.length > 0
      ? ['These are forbidden now; plan something different:', ...gap.forbidden.map((action) => `- ${bounded(oneLine(action), 200)}`)]
      : []),
  ].join('\n');
}

/** Second and third try: the same conversation with the faulty reply and what was wrong with it. */
export const reAskPlan = (messages: readonly PromptMessage[], reply: string, faults: readonly string[]): readonly PromptMessage[] => [
  ...messages,
  { role: 'assistant', content: bounded(reply, 4_000) },
  {
    role: 'user',
    content: `That plan cannot be used:\n${faults.map((fault) => `- ${fault}`).join('\n')}\nReply again with the corrected JSON only.`,
  },
];
