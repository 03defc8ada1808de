import { type Draft, type Fact, type TaskInput, type TaskInputDraft } from '@conclave/contracts';
import { actionKey, clientToolsRef, currentFacts, isExpert, isJudge, type TaskState } from '@conclave/loop';
import { inputOfTask } from '../capabilities/declared.js';
import { actionOf } from '../plan-rules.js';
import { asAsked, languageAsked } from '../prompts/as-asked.js';
import { askedText } from '../prompts/call-text.js';
import { questionInFull } from '../prompts/follow-up.js';
import { bounded, oneLine } from '../prompts/quoting.js';
import { answerLabel } from '../prompts/rendering.js';
import { visionCategory } from '../vision.js';
import { contradictions } from './contradictions.js';
import { hasSecondTier, profileOf } from './experts.js';
import { categoryOf, confidenceOf, heard, sureFrom, type CommitteeView } from './own.js';

/** Most facts a prompt shows; the ledger and the audit keep all. */
const factsInPrompt = 40;
/** Most answers that a prompt shows whole, and most findings of those that it has no room for. */
const answersInPrompt = 16;
const findingsInPrompt = 12;

const rank: Readonly<Record<Fact['source']['kind'], number>> = {
  // Before all others, so that they keep the numbers under which the client knows them.
  request: -1,
  tool: 0,
  graph: 1,
  memory: 1,
  expert: 2,
  web: 3,
  corpus: 3,
  collection: 3,
};

/** Source priority of the synthesis: tools, graph, confident experts, web, unsure experts. Stable within a kind. */
const byPriority = (a: Fact, b: Fact): number => rankOf(a) - rankOf(b);
const rankOf = (fact: Fact): number => (fact.source.kind === 'expert' && (fact.confidence ?? 0) < sureFrom ? 4 : rank[fact.source.kind]);

/** The facts that fit a prompt: the most trusted, latest first among equals; ordered by trust, the latest round first. */
function mostTrusted(facts: readonly Fact[]): Fact[] {
  const chosen = new Set(facts.slice().reverse().sort(byPriority).slice(0, factsInPrompt));
  return facts.filter((fact) => chosen.has(fact)).sort((a, b) => byPriority(a, b) || b.epoch - a.epoch);
}

export const known = (view: CommitteeView): readonly Fact[] => currentFacts(view.run.memory);
/** Documents that the request quotes, in the order of their numbers. */
export const quoted = (view: CommitteeView): readonly Fact[] => known(view).filter(({ source }) => source.kind === 'request');
export const sourced = (view: CommitteeView): readonly Fact[] => known(view).filter((fact) => fact.source.kind !== 'expert');

/** Input of a planned task. Experts get the results of the tasks they need first, then findings of earlier rounds, latest first. */
export function taskInput(view: CommitteeView, _ref: string, task: TaskState): TaskInputDraft {
  const { spec } = task;
  if (isExpert(spec.capability)) return expertInput(view, task);
  return inputOfTask({ run: view.run, template: view.template, task, filters: view.own.filters });
}

function expertInput(view: CommitteeView, task: TaskState): TaskInputDraft {
  const { spec } = task;
  const category = categoryOf(task);
  const needed = new Set(spec.needs.map((need) => `${view.run.runId}/${view.run.epoch}/${need}`));
  const now = known(view).filter((fact) => needed.has(fact.taskId));
  const before = known(view)
    .filter((fact) => fact.source.kind !== 'request' && (fact.epoch < view.run.epoch || fact.taskId === clientToolsRef(view.run.runId)))
    .reverse();
  const previous = task.again === undefined ? null : (view.run.tasks[task.again]?.result?.text ?? null);
  const trivial = view.own.complexity === 'trivial';
  // For a trivial question, confidence matters only in a category with a second tier.
  const marked = !trivial || hasSecondTier(view, category);
  return {
    kind: 'expert',
    category,
    task: spec.task,
    goal: view.run.request.goal,
    conversation: view.run.request.conversation,
    system: view.run.request.system,
    prompt: view.template.prompts?.[`expert.${category}`] ?? profileOf(view.template, category)?.prompt ?? '',
    evidence: [...quoted(view), ...now, ...before].slice(0, factsInPrompt),
    hints: task.hints ?? null,
    previous,
    // Experts without vision get only the text of files: a model that accepts no images refuses the whole call.
    attachments: (view.run.request.attachments ?? []).filter(({ kind }) => kind === 'file' || category === visionCategory),
    ...(writesAnswer(view) ? { final: true, parameters: view.run.request.answer } : {}),
    ...(marked ? {} : { marked: false }),
    ...asAsked(view.run.request),
  };
}

/** Whether the reply of the only expert may be the answer itself: nothing else is planned. */
function writesAnswer(view: CommitteeView): boolean {
  if (view.own.complexity === 'trivial') return true;
  const planned = Object.values(view.run.tasks).filter((task) => !isJudge(task) && task.origin === undefined);
  return planned.length === 1 && view.run.epoch === 0 && view.run.request.answer.response_format === undefined;
}

export const gapInput = (view: CommitteeView, draft: Draft | null): TaskInputDraft => {
  const facts = known(view);
  return {
    kind: 'gap',
    // The goal is immutable: only a follow-up, which says little by itself, is rephrased.
    question: questionInFull(view.run),
    mode: draft ? 'answer' : 'evidence',
    draft: draft?.text ?? null,
    facts: facts.slice(-factsInPrompt).sort((a, b) => b.epoch - a.epoch),
    experts: heardTasks(view)
      .slice(0, answersInPrompt)
      .map(([taskId, task]) => ({
        category: categoryOf(task),
        task: task.spec.task,
        confidence: confidenceOf(task),
        gaps: [...task.result!.gaps],
        ...(draft ? {} : answerBeyond(facts, taskId, task.result!.text)),
      })),
  };
};

/** Characters of an answer that the gap check sees. */
const answerForGap = 800;

/** An answer that says more than its finding, which is all that the facts hold of it: the rest may fill the gap. */
function answerBeyond(facts: readonly Fact[], taskId: string, answer: string): { answer?: string } {
  const finding = facts.find((fact) => fact.taskId === taskId)?.text ?? '';
  return answer.trim().length > finding.length + 20 ? { answer: bounded(oneLine(answer), answerForGap) } : {};
}

export const hintsInput = (view: CommitteeView, unsure: readonly (readonly [string, TaskState])[]): TaskInputDraft => ({
  kind: 'hints',
  question: questionInFull(view.run),
  answers: unsure.map(([taskId, task]) => ({
    taskId,
    category: categoryOf(task),
    task: task.spec.task,
    text: task.result!.text,
    gaps: [...task.result!.gaps],
  })),
});

export const scoreInput = (
  view: CommitteeView,
  pairs: readonly { readonly id: string; readonly before: TaskState; readonly after: TaskState }[],
): TaskInputDraft => ({
  kind: 'score',
  question: questionInFull(view.run),
  pairs: pairs.map(({ id, before, after }) => ({
    taskId: id,
    category: categoryOf(after),
    task: after.spec.task,
    before: before.result!.text,
    after: after.result!.text,
  })),
});

export const thinkingInput = (view: CommitteeView): TaskInputDraft => ({
  kind: 'thinking',
  question: questionInFull(view.run),
  system: view.run.request.system,
  facts: mostTrusted(sourced(view)),
  answers: heardAnswers(view),
});

/** The critic sees the facts under the numbers that the answer cites them by. */
export const criticInput = (view: CommitteeView, answer: Draft, categories: readonly string[]): TaskInputDraft => ({
  kind: 'critic',
  question: questionInFull(view.run),
  system: view.run.request.system,
  answer: answer.text,
  facts: mostTrusted(sourced(view)),
  categories: [...categories],
  ...languageAsked(view.run.request),
});

export const synthesisInput = (view: CommitteeView, openGap: string | null): TaskInputDraft => ({
  kind: 'synthesis',
  question: view.run.request.goal,
  conversation: view.run.request.conversation,
  system: view.run.request.system,
  facts: mostTrusted(sourced(view)),
  answers: heardAnswers(view),
  ...told(contradictionsOf(view)),
  failed: failures(view),
  thinking: view.own.thinking || null,
  openGap,
  parameters: view.run.request.answer,
  ...asAsked(view.run.request),
});

/** Expert tasks whose answers count, most confident first, later ones first among equals. */
const heardTasks = (view: CommitteeView): readonly (readonly [string, TaskState])[] =>
  Object.entries(view.run.tasks)
    .filter(([, task]) => heard(task))
    .sort(([, a], [, b]) => confidenceOf(b) - confidenceOf(a) || b.epoch - a.epoch);

/**
 * Every answer that counts, as a whole; superseded ones do not count. Several answers of one category are parts of one answer. Answers
 * beyond the prompt's limit are reduced to their finding. Failed tasks are never merged as text.
 */
function heardAnswers(view: CommitteeView): Extract<TaskInput, { kind: 'synthesis' }>['answers'] {
  const whole = heardTasks(view).slice(0, answersInPrompt);
  const shown = new Set(whole.map(([taskId]) => taskId));
  const findings = known(view)
    .filter((fact) => fact.source.kind === 'expert' && !shown.has(fact.taskId))
    .map((fact) => ({ category: fact.source.title, text: fact.text, confidence: fact.confidence ?? 0, epoch: fact.epoch }));
  return [
    ...whole.map(([, task]) => ({
      category: categoryOf(task),
      text: task.result!.text,
      confidence: confidenceOf(task),
      epoch: task.epoch,
    })),
    ...findings.slice(-findingsInPrompt),
  ];
}

const told = (found: readonly string[]): { contradictions?: string[] } => (found.length > 0 ? { contradictions: [...found] } : {});

/** Contradictions between the findings of experts whose answers count, a line each. */
export function contradictionsOf(view: CommitteeView): readonly string[] {
  const findings = new Map(known(view).map((fact) => [fact.taskId, fact]));
  const statements = heardTasks(view).flatMap(([taskId, task]) => {
    const fact = findings.get(taskId);
    const by = answerLabel({ category: categoryOf(task), confidence: confidenceOf(task) });
    return fact ? [{ by, task: task.spec.task, text: fact.text }] : [];
  });
  return contradictions(statements).map(({ one, other }) => `${one.by} ${one.text} / ${other.by} ${other.text}`);
}

/** Failed tasks, unless a retry succeeded. */
function failures(view: CommitteeView): Extract<TaskInput, { kind: 'synthesis' }>['failed'] {
  const tasks = Object.values(view.run.tasks);
  const what = ({ spec }: (typeof tasks)[number]): string => actionKey(actionOf({ ...spec, needs: [] }, []));
  const worked = new Set(tasks.filter((task) => task.result?.status === 'ok').map(what));
  return tasks
    .filter((task) => !isJudge(task) && task.again === undefined && task.result?.failure && !worked.has(what(task)))
    .map((task) => ({ capability: task.spec.capability, task: askedText(task.spec), reason: task.result!.failure!.message }));
}
