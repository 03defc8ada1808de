import type { Fact, PlannedTask, TaskInput, TaskInputDraft } from '@conclave/contracts';
import {
  actionKey,
  actionOf,
  categoryOf,
  currentFacts,
  heard,
  isExpert,
  isJudge,
  sureFrom,
  tasksOf,
  type BornRun,
  type Draft,
  type TaskState,
} from '@conclave/loop';
import { bounded } from '../prompts/quoting.js';
import { answerLabel } from '../prompts/rendering.js';
import { contradictions } from './contradictions.js';
import { visionCategory } from './vision.js';

/** Most facts a prompt shows; the ledger and the audit keep all. */
const factsInPrompt = 40;
/** Most answers that a prompt shows whole, and most findings of those that it has no room for. */
const answersInPrompt = 16;
const findingsInPrompt = 12;
/** Hits asked of a search. */
const searchResults = 5;

const rank: Readonly<Record<Fact['source']['kind'], number>> = {
  tool: 0,
  graph: 1,
  memory: 1,
  expert: 2,
  web: 3,
  corpus: 3,
  collection: 3,
};

/** Source priority of the synthesis: tools, graph, confident experts, web, unsure experts (moe.md, Merger). Stable within a kind. */
const byPriority = (a: Fact, b: Fact): number => rankOf(a) - rankOf(b);
const rankOf = (fact: Fact): number => (fact.source.kind === 'expert' && (fact.confidence ?? 0) < sureFrom ? 4 : rank[fact.source.kind]);

/** What a prompt has room for: the most trusted, of these the latest; in the order they are to be trusted, the latest round first. */
function mostTrusted(facts: readonly Fact[]): Fact[] {
  const chosen = new Set(facts.slice().reverse().sort(byPriority).slice(0, factsInPrompt));
  return facts.filter((fact) => chosen.has(fact)).sort((a, b) => byPriority(a, b) || b.epoch - a.epoch);
}

const known = (run: BornRun): readonly Fact[] => currentFacts(run.memory);
const sourced = (run: BornRun): readonly Fact[] => known(run).filter((fact) => fact.source.kind !== 'expert');

/** What a planned task works on. Experts get the results of the tasks they need first, then what earlier rounds found, latest first. */
export function taskInput(run: BornRun, task: TaskState): TaskInputDraft {
  const { spec } = task;
  if (isExpert(spec.capability)) return expertInput(run, task);
  const query = spec.query ?? spec.task;
  const filters = run.filters ?? {};
  switch (spec.capability) {
    case 'math':
      return { kind: 'math', task: spec.task, operation: spec.tool ?? null, args: spec.args ?? {} };
    case 'mcp':
      return { kind: 'mcp', task: spec.task, tool: spec.tool ?? '', args: spec.args ?? {} };
    case 'graph':
      return {
        kind: 'graph',
        question: spec.query ?? run.memory.searchQuestion ?? run.goal,
        categories: [
          ...new Set(
            tasksOf(run, run.epoch)
              .filter(([, other]) => isExpert(other.spec.capability))
              .map(([, other]) => categoryOf(other)),
          ),
        ],
        filters,
        maxCharacters: graphCharacters(run),
      };
    case 'collections':
      return {
        kind: 'collections',
        query,
        collections: (run.template.collections ?? []).map(({ name }) => name),
        filters,
        limit: searchResults,
      };
    default:
      return { kind: 'research', task: spec.task, query, limit: searchResults };
  }
}

/** Characters of graph context: a quarter of the judge's context (four characters to a token), at least 800 and at most 6,000. */
function graphCharacters(run: BornRun): number {
  const judge = run.template.judge.models[0];
  const context = (judge && run.template.contexts[judge]) || 8_192;
  return Math.min(6_000, Math.max(800, context));
}

function expertInput(run: BornRun, task: TaskState): TaskInputDraft {
  const { spec } = task;
  const category = categoryOf(task);
  const needed = new Set(spec.needs.map((need) => `${run.runId}/${run.epoch}/${need}`));
  const now = known(run).filter((fact) => needed.has(fact.taskId));
  const before = known(run)
    .filter((fact) => fact.epoch < run.epoch)
    .reverse();
  const profile = run.template.experts[category] ?? run.template.experts['general'];
  const previous = task.again === undefined ? null : (run.tasks[task.again]?.result?.text ?? null);
  const trivial = run.complexity === 'trivial';
  // Only a category with a second tier needs to know how sure its answer to a trivial question is.
  const marked = !trivial || (profile?.t2?.length ?? 0) > 0;
  return {
    kind: 'expert',
    category,
    task: spec.task,
    goal: run.goal,
    conversation: run.conversation,
    system: run.system,
    prompt: run.template.prompts?.[`expert.${category}`] ?? profile?.prompt ?? '',
    evidence: [...now, ...before].slice(0, factsInPrompt),
    hints: task.hints ?? null,
    previous,
    // Whoever cannot see gets the text of files alone: a model that takes no images refuses the whole call.
    attachments: (run.attachments ?? []).filter(({ kind }) => kind === 'file' || category === visionCategory),
    ...(writesAnswer(run) ? { final: true, parameters: run.parameters } : {}),
    ...(marked ? {} : { marked: false }),
  };
}

/** Whether the reply of the only expert may be the answer itself: nothing else is planned beside it. */
function writesAnswer(run: BornRun): boolean {
  if (run.complexity === 'trivial') return true;
  const planned = Object.values(run.tasks).filter((task) => !isJudge(task) && task.origin === undefined);
  return planned.length === 1 && run.epoch === 0 && run.parameters.response_format === undefined;
}

export const gapInput = (run: BornRun, draft: Draft | null): TaskInputDraft => ({
  kind: 'gap',
  // The goal is immutable: only a follow-up, which says little by itself, is put in other words.
  question: run.conversation.length > 0 ? (run.memory.searchQuestion ?? run.goal) : run.goal,
  mode: draft ? 'answer' : 'evidence',
  draft: draft?.text ?? null,
  facts: known(run)
    .slice(-factsInPrompt)
    .sort((a, b) => b.epoch - a.epoch),
  experts: heardTasks(run)
    .slice(0, answersInPrompt)
    .map(([, task]) => ({
      category: categoryOf(task),
      task: task.spec.task,
      confidence: task.result!.confidence ?? 0,
      gaps: [...task.result!.gaps],
    })),
});

export const hintsInput = (run: BornRun, unsure: readonly (readonly [string, TaskState])[]): TaskInputDraft => ({
  kind: 'hints',
  question: run.goal,
  answers: unsure.map(([taskId, task]) => ({
    taskId,
    category: categoryOf(task),
    task: task.spec.task,
    text: task.result!.text,
    gaps: [...task.result!.gaps],
  })),
});

export const scoreInput = (
  run: BornRun,
  pairs: readonly { readonly id: string; readonly before: TaskState; readonly after: TaskState }[],
): TaskInputDraft => ({
  kind: 'score',
  question: run.goal,
  pairs: pairs.map(({ id, before, after }) => ({
    taskId: id,
    category: categoryOf(after),
    task: after.spec.task,
    before: before.result!.text,
    after: after.result!.text,
  })),
});

export const thinkingInput = (run: BornRun): TaskInputDraft => ({
  kind: 'thinking',
  question: run.goal,
  system: run.system,
  facts: mostTrusted(sourced(run)),
  answers: heardAnswers(run),
});

/** The critic sees the facts under the numbers that the answer cites them by. */
export const criticInput = (run: BornRun, answer: Draft, categories: readonly string[]): TaskInputDraft => ({
  kind: 'critic',
  question: run.goal,
  system: run.system,
  answer: answer.text,
  facts: mostTrusted(sourced(run)),
  categories: [...categories],
});

export const synthesisInput = (run: BornRun, openGap: string | null): TaskInputDraft => ({
  kind: 'synthesis',
  question: run.goal,
  conversation: run.conversation,
  system: run.system,
  facts: mostTrusted(sourced(run)),
  answers: heardAnswers(run),
  ...contradictionsOf(run),
  failed: failures(run),
  thinking: run.thinking ?? null,
  openGap,
  parameters: run.parameters,
  startedOn: new Date(run.startedAt).toISOString().slice(0, 10),
});

/** Tasks of experts that are heard, the surest first, of equals the later one. */
const heardTasks = (run: BornRun): readonly (readonly [string, TaskState])[] =>
  Object.entries(run.tasks)
    .filter(([, task]) => heard(task))
    .sort(([, a], [, b]) => (b.result!.confidence ?? 0) - (a.result!.confidence ?? 0) || b.epoch - a.epoch);

/**
 * Every answer that is heard, whole. Several of one category are parts of one answer; what another one took the place of is not heard.
 * Of answers beyond what a prompt shows their finding stays. Failed tasks are never merged as text.
 */
function heardAnswers(run: BornRun): Extract<TaskInput, { kind: 'synthesis' }>['answers'] {
  const whole = heardTasks(run).slice(0, answersInPrompt);
  const shown = new Set(whole.map(([taskId]) => taskId));
  const findings = known(run)
    .filter((fact) => fact.source.kind === 'expert' && !shown.has(fact.taskId))
    .map((fact) => ({ category: fact.source.title, text: fact.text, confidence: fact.confidence ?? 0, epoch: fact.epoch }));
  return [
    ...whole.map(([, task]) => ({
      category: categoryOf(task),
      text: task.result!.text,
      confidence: task.result!.confidence ?? 0,
      epoch: task.epoch,
    })),
    ...findings.slice(-findingsInPrompt),
  ];
}

/** Where experts that are heard contradict each other, in their own findings. */
function contradictionsOf(run: BornRun): { contradictions?: string[] } {
  const findings = new Map(known(run).map((fact) => [fact.taskId, fact]));
  const statements = heardTasks(run).flatMap(([taskId, task]) => {
    const fact = findings.get(taskId);
    const by = answerLabel({ category: categoryOf(task), confidence: task.result!.confidence ?? 0 });
    return fact ? [{ by, task: task.spec.task, text: fact.text }] : [];
  });
  const found = contradictions(statements).map(({ one, other }) => `${one.by} ${one.text} / ${other.by} ${other.text}`);
  return found.length > 0 ? { contradictions: found } : {};
}

/** Tasks without a result, unless the same was tried again and worked. */
function failures(run: BornRun): Extract<TaskInput, { kind: 'synthesis' }>['failed'] {
  const tasks = Object.values(run.tasks);
  const what = ({ spec }: (typeof tasks)[number]): string => actionKey(actionOf({ ...spec, needs: [] }, []));
  const worked = new Set(tasks.filter((task) => task.result?.status === 'ok').map(what));
  return tasks
    .filter((task) => !isJudge(task) && task.standing === undefined && task.result?.failure && !worked.has(what(task)))
    .map((task) => ({ capability: task.spec.capability, task: task.spec.query ?? task.spec.task, reason: task.result!.failure!.message }));
}

export const planSummary = (tasks: readonly PlannedTask[]): string =>
  bounded(tasks.map((task) => `${task.capability}: ${task.query ?? task.task}`).join('; '), 400);

/** New facts of a round, latest first, bounded. */
export function findings(run: BornRun, epoch: number): string {
  const inRound = known(run)
    .filter((fact) => fact.epoch === epoch)
    .reverse();
  if (inRound.length === 0) return tasksOf(run, epoch).length === 0 ? 'No task ran.' : 'Nothing new was found.';
  return bounded(inRound.map((fact) => bounded(fact.text.replace(/\s+/g, ' '), 300)).join('\n'), 2_000);
}

/** The finalizer without a model: what is known, with its sources, what stays open and why it stopped. */
export function ledgerAnswer(run: BornRun, reason: string): Draft | null {
  const experts = known(run)
    .filter((fact) => fact.source.kind === 'expert')
    .slice(-3);
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
