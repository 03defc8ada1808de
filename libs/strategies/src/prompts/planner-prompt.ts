import type { Complexity, Fact, GapDetected, PlanRequested as PlanRequestedSpec, Template } from '@conclave/contracts';
import { dayOf, promptMarks as marks } from '@conclave/contracts';
import { currentFacts, isExpert } from '@conclave/loop';
import type * as z from 'zod';
import { capabilityOf } from '../capabilities/declared.js';
import { capabilitiesOf, mostExperts } from '../plan-rules.js';
import { canSee, hasImage } from '../vision.js';
import { namesOf, quotedIn } from './attached.js';
import { fitted, type Cut } from './fitting.js';
import {
  asData,
  bounded,
  dataRule,
  factLengths,
  languageLine,
  numberedFacts,
  oneLine,
  sections,
  todayLine,
  transcript,
  type PromptMessage,
} from './quoting.js';
import { plannerValues } from './planner-examples.js';
import { promptText } from './shipped.js';

/** Input of a planner's prompt. */
export type PlannerRequest = z.input<(typeof PlanRequestedSpec)['schema']>;

function catalogueOf(template: PlannerRequest['template']): string {
  return capabilitiesOf(template as Template)
    .flatMap((name) => {
      if (isExpert(name)) return [`- ${name}: an expert model for ${name.slice('expert.'.length).replaceAll('_', ' ')}`];
      const declared = capabilityOf(name);
      const listed = declared?.listed?.(template as Template) ?? [];
      return [`- ${name}: ${declared?.forPlanner ?? 'a tool'}`, ...listed.map((line) => `    ${line}`)];
    })
    .join('\n');
}

/** Describes to the planner which attachments there are and how files begin. Images go to the vision expert, files to every expert. */
function attachedTo({ attachments = [], template }: PlannerRequest): string | null {
  if (attachments.length === 0) return null;
  const excerpts = attachments.flatMap(({ name, text }) =>
    text ? [`${name ? oneLine(bounded(name, 80)) : 'file'}: ${oneLine(bounded(text.excerpt, 600))}`] : [],
  );
  return sections(
    `${marks.attached} ${namesOf(attachments)}.`,
    hasImage(attachments) && canSee(template)
      ? 'Plan a task of expert.vision first: only it sees the images. Whoever builds on what it sees needs it.'
      : null,
    excerpts.length > 0 ? `Every expert gets the text of the files. They begin with:\n${asData(excerpts.join('\n'))}` : null,
  );
}

/** Rule that makes a follow-up question searchable. */
const followUpRule =
  'The question continues a conversation. Add "search_question" beside "tasks": the question in full words, clear without the conversation.';

/** Messages for the first plan, or for a re-plan when `gap` is given, within the token limit if possible. */
export const plannerPrompt = (
  request: PlannerRequest,
  gap: GapDetected['data'] | null,
  promptTokens = Number.POSITIVE_INFINITY,
  complexity: Complexity = 'moderate',
): readonly PromptMessage[] => fitted(request.conversation, promptTokens, (cut) => render(request, gap, cut, complexity));

function render(request: PlannerRequest, gap: GapDetected['data'] | null, cut: Cut, complexity: Complexity): readonly PromptMessage[] {
  const { template } = request;
  const overrides = template.prompts ?? {};
  const system = sections(
    gap ? iterationBlock(gap, template.capabilities, cut.scale) : null,
    marks.roles.planner,
    template.planner.prompt ??
      promptText('planner', overrides, plannerValues(template as Template, mostExperts(template as Template, complexity))),
    !gap && request.conversation.length > 0 ? followUpRule : null,
    `${marks.capabilities}\n${catalogueOf(template)}`,
    dataRule,
    todayLine(dayOf(request.requestedAt)),
  );
  const user = sections(
    cut.conversation.length > 0 ? `${marks.conversation}\n${asData(transcript(cut.conversation))}` : null,
    request.system ? `The client's system message, for context:\n${asData(bounded(request.system, 2_000))}` : null,
    `${marks.question} ${request.goal}`,
    attachedTo(request),
    quotedIn(request.documents),
    gap?.memory.searchQuestion ? `The question in full words: ${oneLine(bounded(gap.memory.searchQuestion, 500))}` : null,
    gap ? `Budget left: ${gap.left.model_calls} model calls, ${gap.left.tokens} tokens, ${gap.left.wall_time_s} seconds.` : null,
    languageLine(request.language, request.goal, 'plan'),
  );
  return [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
}

/** Most facts that the prompt of a re-plan contains. */
const mostFacts = 20;

/** The latest task first; facts of one task in the order in which it found them, the best first. */
function latestFirst(facts: readonly Fact[]): readonly Fact[] {
  const tasks = [...new Set(facts.map(({ taskId }) => taskId))].reverse();
  return tasks.flatMap((id) => facts.filter(({ taskId }) => taskId === id));
}

/** Names of what fetches data, and the capabilities behind them. */
const fetching = { web_researcher: ['research'], precision_tools: ['mcp', 'math'] } as const satisfies Readonly<
  Record<string, readonly string[]>
>;

/** The context block of a re-plan, with the detector's next focus and earlier attempts. */
function iterationBlock(gap: GapDetected['data'], capabilities: readonly string[], scale: number): string {
  const sources = Object.entries(fetching).flatMap(([name, by]) => (by.some((one) => capabilities.includes(one)) ? [name] : []));
  const findings = numberedFacts(
    latestFirst(currentFacts(gap.memory)).slice(0, mostFacts),
    factLengths(scale, { text: 500, toolResult: 2_000, quoted: 2_000 }),
  );
  const tried = gap.memory.tried.map(
    ({ argument, error }) =>
      `- ${bounded(oneLine(argument), 200)}${error === undefined ? '' : ` -> failed: ${bounded(oneLine(error), 200)}`}`,
  );
  return [
    marks.replan.head(gap.iteration, gap.max),
    marks.replan.established,
    asData(findings || 'none'),
    marks.replan.unresolved,
    asData(bounded(gap.gap, 1_000)),
    marks.replan.instructions,
    'Do NOT repeat subtasks that are already answered.',
    ...(sources.length > 0 ? [`Use ${sources.join(' or ')} to fetch missing data.`] : []),
    `${marks.replan.nextFocus} ${bounded(gap.nextFocus.replace(/\s+/g, ' '), 400)}`,
    ...resultLines(gap.results ?? []),
    marks.replan.tried,
    ...(tried.length > 0 ? tried : ['- none']),
    ...(gap.forbidden.length > 0
      ? ['These are forbidden now; plan something different:', ...gap.forbidden.map((action) => `- ${bounded(oneLine(action), 200)}`)]
      : []),
  ].join('\n');
}

/** Results and gaps of earlier tasks, so that a task that redoes one can name it. */
function resultLines(results: NonNullable<GapDetected['data']['results']>): readonly string[] {
  if (results.length === 0) return [];
  const lines = results.map(({ id, capability, task, confidence, gaps }) => {
    const sure = confidence === null ? '' : `, confidence ${confidence}`;
    return `- ${id} ${capability}${sure}: ${bounded(oneLine(task), 200)}${gaps.length > 0 ? ` GAPS: ${bounded(gaps.map(oneLine).join('; '), 400)}` : ''}`;
  });
  return [
    marks.replan.results,
    asData(lines.join('\n')),
    'A task that corrects or answers anew what one of these did carries "redoes": "its id"; the better result takes its place.',
  ];
}
