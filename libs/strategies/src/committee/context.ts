import type { Fact, PlannedTask, TaskInput } from '@conclave/contracts';
import { isExpert, isJudge, normalise, tasksOf, type BornRun, type Draft } from '@conclave/loop';
import { bounded } from '../prompts/quoting.js';

/** Most facts a prompt shows; the ledger and the audit keep all. */
const factsInPrompt = 40;
/** Most findings of experts whose whole answer gave way to a better one. */
const findingsInPrompt = 12;
/** Hits asked of a search. */
const searchResults = 5;

const rank: Readonly<Record<Fact['source']['kind'], number>> = { tool: 0, graph: 1, expert: 2, web: 3, corpus: 3 };

/** Source priority of the synthesis: tools, graph, confident experts, web, unsure experts (moe.md, Merger). Stable within a kind. */
const byPriority = (a: Fact, b: Fact): number => rankOf(a) - rankOf(b);
const rankOf = (fact: Fact): number => (fact.source.kind === 'expert' && (fact.confidence ?? 0) < 0.65 ? 4 : rank[fact.source.kind]);

/** What a prompt has room for: the most trusted, of these the latest; in the order they are to be trusted. */
function mostTrusted(facts: readonly Fact[]): Fact[] {
  const chosen = new Set(facts.slice().reverse().sort(byPriority).slice(0, factsInPrompt));
  return facts.filter((fact) => chosen.has(fact)).sort(byPriority);
}

const sourced = (run: BornRun): readonly Fact[] => run.memory.facts.filter((fact) => fact.source.kind !== 'expert');

/** Results of the tasks it needs first, then what earlier rounds found, latest first. */
export function taskInput(run: BornRun, task: PlannedTask): TaskInput {
  if (!isExpert(task.capability)) return { kind: 'research', task: task.task, query: task.query ?? task.task, limit: searchResults };
  const category = task.capability.slice('expert.'.length);
  const needed = new Set(task.needs.map((need) => `${run.runId}/${run.epoch}/${need}`));
  const now = run.memory.facts.filter((fact) => needed.has(fact.taskId));
  const before = run.memory.facts.filter((fact) => fact.epoch < run.epoch).reverse();
  return {
    kind: 'expert',
    category,
    task: task.task,
    goal: run.goal,
    conversation: run.conversation,
    system: run.system,
    prompt: (run.template.experts[category] ?? run.template.experts['general'])?.prompt ?? '',
    evidence: [...now, ...before].slice(0, factsInPrompt),
  };
}

export const gapInput = (run: BornRun, draft: Draft | null): TaskInput => ({
  kind: 'gap',
  // The goal is immutable: only a follow-up, which says little by itself, is put in other words.
  question: run.conversation.length > 0 ? (run.memory.searchQuestion ?? run.goal) : run.goal,
  mode: draft ? 'answer' : 'evidence',
  draft: draft?.text ?? null,
  facts: run.memory.facts.slice(-factsInPrompt),
});

export const synthesisInput = (run: BornRun, openGap: string | null): TaskInput => ({
  kind: 'synthesis',
  question: run.goal,
  conversation: run.conversation,
  system: run.system,
  facts: mostTrusted(sourced(run)),
  answers: bestAnswers(run),
  failed: failures(run),
  openGap,
  parameters: run.parameters,
  startedOn: new Date(run.startedAt).toISOString().slice(0, 10),
});

/**
 * One answer per category: the higher confidence wins, ties go to the later round. Of the others their finding stays, so that a
 * later round or another part of the question is not lost. Failed tasks are never merged as text.
 */
function bestAnswers(run: BornRun): Extract<TaskInput, { kind: 'synthesis' }>['answers'] {
  type Answer = { category: string; text: string; confidence: number; epoch: number };
  const best = new Map<string, Answer & { taskId: string }>();
  for (const [taskId, task] of Object.entries(run.tasks)) {
    if (!isExpert(task.spec.capability) || task.result?.status !== 'ok') continue;
    const category = task.spec.capability.slice('expert.'.length);
    const confidence = task.result.confidence ?? 0;
    const known = best.get(category);
    if (!known || confidence > known.confidence || (confidence === known.confidence && task.epoch > known.epoch))
      best.set(category, { category, text: task.result.text, confidence, epoch: task.epoch, taskId });
  }
  const kept = new Set([...best.values()].map((answer) => answer.taskId));
  const findings = run.memory.facts
    .filter((fact) => fact.source.kind === 'expert' && !kept.has(fact.taskId))
    .map((fact): Answer => ({ category: fact.source.title, text: fact.text, confidence: fact.confidence ?? 0, epoch: fact.epoch }));
  const answers = [...best.values()].map(({ category, text, confidence, epoch }): Answer => ({ category, text, confidence, epoch }));
  return [...answers.sort((a, b) => b.confidence - a.confidence), ...findings.slice(-findingsInPrompt)];
}

/** Tasks without a result, unless the same was tried again and worked. */
function failures(run: BornRun): Extract<TaskInput, { kind: 'synthesis' }>['failed'] {
  const tasks = Object.values(run.tasks);
  const what = ({ spec }: (typeof tasks)[number]): string => `${spec.capability} ${normalise(spec.query ?? spec.task)}`;
  const worked = new Set(tasks.filter((task) => task.result?.status === 'ok').map(what));
  return tasks
    .filter((task) => !isJudge(task) && task.result?.failure && !worked.has(what(task)))
    .map((task) => ({ capability: task.spec.capability, task: task.spec.query ?? task.spec.task, reason: task.result!.failure!.message }));
}

export const planSummary = (tasks: readonly PlannedTask[]): string =>
  bounded(tasks.map((task) => `${task.capability}: ${task.query ?? task.task}`).join('; '), 400);

/** New facts of a round, latest first, bounded. */
export function findings(run: BornRun, epoch: number): string {
  const inRound = run.memory.facts.filter((fact) => fact.epoch === epoch).reverse();
  if (inRound.length === 0) return tasksOf(run, epoch).length === 0 ? 'No task ran.' : 'Nothing new was found.';
  return bounded(inRound.map((fact) => bounded(fact.text.replace(/\s+/g, ' '), 300)).join('\n'), 2_000);
}

/** The finalizer without a model: what is known, with its sources, what stays open and why it stopped. */
export function ledgerAnswer(run: BornRun, reason: string): Draft | null {
  const experts = run.memory.facts.filter((fact) => fact.source.kind === 'expert').slice(-3);
  const facts = sourced(run).slice(-10);
  if (experts.length + facts.length === 0) return null;
  const lines = [
    ...experts.map((fact) => `- ${bounded(fact.text, 400)}`),
    ...facts.map((fact, index) => `- ${bounded(fact.text.replace(/\s+/g, ' '), 400)} [${index + 1}]`),
  ];
  const sources = facts.map((fact, index) => `[${index + 1}] ${fact.source.title}${fact.source.url ? ` — ${fact.source.url}` : ''}`);
  const text = [
    `What was found so far:\n${lines.join('\n')}`,
    run.gap ? `Still open: ${run.gap}` : null,
    `Why it stopped: ${reason}`,
    sources.length > 0 ? `Sources:\n${sources.join('\n')}` : null,
  ];
  return {
    text: text.filter(Boolean).join('\n\n'),
    sources: facts.map((fact, index) => ({ ...fact.source, n: index + 1 })),
    insight: null,
    cutShort: false,
    epoch: run.epoch,
  };
}
