import type { Fact, PlannedTask, TaskInput } from '@conclave/contracts';
import { isExpert, tasksOf, type BornRun, type Draft } from '@conclave/loop';
import { bounded } from '../prompts/quoting.js';

/** Most facts a prompt shows; the ledger and the audit keep all. */
const factsInPrompt = 40;
/** Hits asked of a search. */
const searchResults = 5;

const rank: Readonly<Record<Fact['source']['kind'], number>> = { tool: 0, graph: 1, expert: 2, web: 3, corpus: 3 };

/** Source priority of the synthesis: tools, graph, confident experts, web, unsure experts (moe.md, Merger). Stable within a kind. */
const byPriority = (a: Fact, b: Fact): number => rankOf(a) - rankOf(b);
const rankOf = (fact: Fact): number => (fact.source.kind === 'expert' && (fact.confidence ?? 0) < 0.65 ? 4 : rank[fact.source.kind]);

const sourced = (run: BornRun): readonly Fact[] => run.memory.facts.filter((fact) => fact.source.kind !== 'expert');

/** Results of the tasks it needs first, then what earlier rounds found. */
export function taskInput(run: BornRun, task: PlannedTask): TaskInput {
  if (!isExpert(task.capability)) return { kind: 'research', task: task.task, query: task.query ?? task.task, limit: searchResults };
  const category = task.capability.slice('expert.'.length);
  const needed = new Set(task.needs.map((need) => `${run.runId}/${run.epoch}/${need}`));
  const now = run.memory.facts.filter((fact) => needed.has(fact.taskId));
  const before = run.memory.facts.filter((fact) => fact.epoch < run.epoch);
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
  question: run.memory.searchQuestion ?? run.goal,
  mode: draft ? 'answer' : 'evidence',
  draft: draft?.text ?? null,
  facts: run.memory.facts.slice(-factsInPrompt),
});

export const synthesisInput = (run: BornRun, openGap: string | null): TaskInput => ({
  kind: 'synthesis',
  question: run.goal,
  conversation: run.conversation,
  system: run.system,
  facts: sourced(run).slice(-factsInPrompt).sort(byPriority),
  answers: bestAnswers(run),
  failed: failures(run),
  openGap,
  parameters: run.parameters,
  startedOn: new Date(run.startedAt).toISOString().slice(0, 10),
});

/** One answer per category: the higher confidence wins, ties go to the later round. Failed tasks are never merged as text. */
function bestAnswers(run: BornRun): Extract<TaskInput, { kind: 'synthesis' }>['answers'] {
  const best = new Map<string, { category: string; text: string; confidence: number; epoch: number }>();
  for (const task of Object.values(run.tasks)) {
    if (!isExpert(task.spec.capability) || task.result?.status !== 'ok') continue;
    const category = task.spec.capability.slice('expert.'.length);
    const confidence = task.result.confidence ?? 0;
    const known = best.get(category);
    if (!known || confidence > known.confidence || (confidence === known.confidence && task.epoch > known.epoch))
      best.set(category, { category, text: task.result.text, confidence, epoch: task.epoch });
  }
  return [...best.values()].sort((a, b) => b.confidence - a.confidence);
}

const failures = (run: BornRun): Extract<TaskInput, { kind: 'synthesis' }>['failed'] =>
  Object.values(run.tasks)
    .filter((task) => !task.spec.capability.startsWith('judge.') && task.result?.failure)
    .map((task) => ({ capability: task.spec.capability, task: task.spec.query ?? task.spec.task, reason: task.result!.failure!.message }));

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
