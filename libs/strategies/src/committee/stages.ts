import type { Draft } from '@conclave/contracts';
import { isExpert, isJudge, lacksPlan, tasksOf, type Move, type TaskState } from '@conclave/loop';
import { contradictionsOf, quoted } from './context.js';
import { againOf } from './experts.js';
import { categoryOf, confidenceOf, heard, heardNow, sureFrom, wantsFormat, type CommitteeView as View, type Own } from './own.js';
import { needsReview, reviewedCategories } from './review.js';
import { takePlaces } from './superseding.js';
import { unsourced } from '../own-knowledge.js';
import { bounded, oneLine } from '../prompts/quoting.js';
import { citedSources } from '../replies/citations.js';

/** How a round is assessed: not at all, on the evidence before writing, or on a written draft. */
export const modeOf = ({ run, own, template }: View): 'none' | 'evidence' | 'answer' =>
  own.complexity === 'trivial' || run.strategy === 'single-pass' || template.max_agentic_rounds === 0 ? 'none' : template.gap_check;

/** Whether the open round is assessed: another round may follow, and the budget allows it. */
export const mayAssess = (view: View): boolean =>
  modeOf(view) !== 'none' && !view.lastRound && view.budget !== 'reserve' && view.budget !== 'spent';

const knows = ({ run }: View): boolean => run.memory.facts.length > 0;

/** Whether to write now: the answer or, in answer mode, the draft to assess. */
const writes = (view: View): boolean =>
  view.run.ending !== null ||
  (view.run.round !== null && modeOf(view) === 'answer' && mayAssess(view) && knows(view) && !view.own.undraftable);

/** Whether a text is due but not yet written. */
const isUnwritten = (view: View): boolean => writes(view) && view.own.draft === null && view.own.unwritten === null;

/** Unsure experts of the round. */
export const unsureOf = (view: View): readonly (readonly [string, TaskState])[] =>
  heardNow(view).filter(([, task]) => confidenceOf(task) < sureFrom);

/** Experts asked again in the current refinement round. */
const askedAgain = ({ run, own }: View): readonly (readonly [string, TaskState])[] =>
  tasksOf(run, run.epoch).filter(([, { spec, again }]) => again !== undefined && spec.id.endsWith(`~r${own.refined}`));

/** Refined answers paired with their originals. */
export const pairsOf = (view: View) =>
  askedAgain(view).flatMap(([id, after]) => {
    const before = view.run.tasks[after.again!];
    return after.result?.status === 'ok' && before ? [{ id, before, after }] : [];
  });

/**
 * The answer without synthesis: exactly one expert's answer counts, it was sure, and there is neither evidence nor a failed task. The
 * only expert of a trivial question is used unchanged.
 */
export function fastAnswer(view: View): Draft | null {
  const { run, own } = view;
  const mine = Object.values(run.tasks).filter((task) => !isJudge(task) && task.result?.status !== 'repeated');
  if (own.complexity === 'trivial') {
    const [best] = heardNow(view);
    return best ? draftOf(view, best[1]) : null;
  }
  const [only, ...others] = mine.filter(heard);
  if (!only || others.length > 0 || mine.some((task) => !isExpert(task.spec.capability))) return null;
  const failed = mine.some((task) => task !== only && task.again === undefined && task.result?.status !== 'ok' && !task.superseded);
  return failed || confidenceOf(only) < sureFrom || wantsFormat(view) ? null : draftOf(view, only);
}

const draftOf = (view: View, { result }: TaskState): Draft => ({
  text: result!.text,
  sources: citedSources(result!.text, quoted(view)).map(({ n, source }) => ({ ...source, n })),
  insight: null,
  cutShort: result!.cutShort,
  epoch: view.run.epoch,
});

const note = (data: Partial<Own>, code?: Extract<Move, { do: 'note' }>['code'], text = ''): Move => ({
  do: 'note',
  data: data as Record<string, unknown>,
  ...(code ? { code, text } : {}),
});

/** A step towards the answer. The first wanted stage of the list runs; its result goes into the committee's own state. */
interface Stage {
  wanted(view: View): boolean;
  ask(view: View): readonly Move[];
}

/** The judge gives hints to unsure experts. */
const hints: Stage = {
  wanted: (view) =>
    isUnwritten(view) &&
    view.own.refining === 'no' &&
    view.own.complexity !== 'trivial' &&
    view.own.refined < (view.template.refine_rounds ?? 0) &&
    view.budget === 'free' &&
    unsureOf(view).length > 0,
  ask: (view) => {
    const named = unsureOf(view).map(([, task]) => `${categoryOf(task)} (${confidenceOf(task)})`);
    const begun = { refined: view.own.refined + 1, refining: 'hints', hints: {}, scores: [] } as const;
    return [note(begun, 'expert.unsure', `Not sure enough: ${named.join(', ')}`), { do: 'judge', name: 'hints' }];
  },
};

/** The unsure experts are asked again. */
const again: Stage = {
  wanted: (view) => view.own.refining === 'answers' && askedAgain(view).length === 0,
  ask: (view) => {
    const tasks = againOf(view);
    return tasks.length > 0 ? [{ do: 'dispatch', tasks, helper: true }] : [note(givenUp(view))];
  },
};

/** The judge compares old and new answers. */
const score: Stage = {
  wanted: (view) => view.own.refining === 'answers',
  ask: (view) => (pairsOf(view).length > 0 ? [note({ refining: 'score' }), { do: 'judge', name: 'score' }] : [note(givenUp(view))]),
};

/** Only better answers are accepted. */
const accept: Stage = {
  wanted: (view) => view.own.refining === 'scored',
  ask: (view) => {
    const scores = new Map(view.own.scores.map((one) => [one.taskId, one]));
    const scored = pairsOf(view).flatMap(({ id, after }) => {
      const found = scores.get(id);
      return found ? [{ id, task: after, delta: found.after - found.before }] : [];
    });
    if (scored.length === 0) return [note(givenUp(view))];
    const deltas = scored.map(({ task, delta }) => `${categoryOf(task)} ${signed(delta)}${delta > 0 ? '' : ', not taken'}`);
    const text = `Second try of unsure experts (${view.own.refined}): ${deltas.join('; ')}`;
    const better = scored.filter(({ delta }) => delta > 0);
    return [note({ refining: 'no' }, 'refinement.response', text), ...better.flatMap(({ id, task }) => takePlaces(view.run, id, task))];
  },
};
const signed = (delta: number): string => `${delta > 0 ? '+' : ''}${Math.round(delta * 100) / 100}`;
/** Ends refinement: without hints or scores another round would repeat the same questions. */
export const givenUp = ({ template }: View): Partial<Own> => ({ refining: 'no', refined: template.refine_rounds ?? 0 });

/** A thinking step before a complex question is answered. */
const thinking: Stage = {
  wanted: (view) =>
    isUnwritten(view) &&
    view.own.complexity === 'complex' &&
    view.template.thinking === true &&
    view.own.thinking === null &&
    view.budget === 'free' &&
    knows(view) &&
    fastAnswer(view) === null,
  ask: () => [{ do: 'judge', name: 'thinking' }],
};

/** Says where experts contradict each other: the prompt of the synthesis has it, and nobody else would see it. */
const contradicted = (view: View): readonly Move[] => {
  const pairs = contradictionsOf(view).map((pair) => oneLine(bounded(pair, 400)));
  return pairs.length > 0 ? [{ do: 'note', text: `Experts contradict each other, which the answer is to say: ${pairs.join('; ')}` }] : [];
};

/** Writes the answer: the single sure expert's, or a synthesis. */
const write: Stage = {
  wanted: (view) => isUnwritten(view) && (knows(view) || fastAnswer(view) !== null || unsourced(view) !== null),
  ask: (view) => {
    const draft = fastAnswer(view);
    const trivial = view.own.complexity === 'trivial';
    const text = lacksPlan(view.run)
      ? 'The budget leaves no call for a plan: one expert answers'
      : trivial
        ? 'A trivial question: one expert answers'
        : 'One sure expert and nothing to merge: its answer is the answer';
    if (draft) return [note({ draft }, 'fast.path', text)];
    if (view.run.ending === null) return [...contradicted(view), { do: 'judge', name: 'synthesis' }];
    const stream = reviewedCategories(view).length > 0 ? 'held' : 'live';
    return [...contradicted(view), { do: 'judge', name: 'synthesis', from: 'reserve', stream, composes: true }];
  },
};

/** Checks for gaps. */
const gap: Stage = {
  wanted: (view) =>
    view.run.ending === null &&
    view.run.round !== null &&
    mayAssess(view) &&
    knows(view) &&
    view.own.gap === null &&
    !view.own.unaffordable,
  ask: () => [{ do: 'judge', name: 'gap' }],
};

/** The critic reviews answers that could do harm. */
const review: Stage = {
  wanted: (view) => view.run.ending !== null && view.own.review === null && needsReview(view, view.own.draft),
  ask: () => [{ do: 'judge', name: 'critic', from: 'reserve' }],
};

export const stages: readonly Stage[] = [hints, again, score, accept, thinking, write, gap, review];
