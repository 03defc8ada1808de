import { taskId } from '@conclave/contracts';
import { readBudget } from './budget.js';
import { dispatchJudge, dispatchReady } from './dispatch.js';
import { findingOf } from './evolve.js';
import { addFacts } from './memory.js';
import type { Moves } from './moves.js';
import { isJudge, tasksOf, type BornRun, type Composing, type Draft, type TaskState } from './state.js';
import type { Strategy } from './strategy.js';
import { optionsOf } from './template-options.js';
import { supersede, takePlaces } from './superseding.js';
import { categoryOf, heard, heardIn, sureFrom } from './tiers.js';

/** Writes what was collected: the caller's own next step once unsure experts were asked again and the thinking step is over. */
export type Write = (moves: Moves, strategy: Strategy) => void;

/** Begins to write a draft or the answer: first refinement, then the thinking step, then `write`. */
export function compose(moves: Moves, strategy: Strategy, purpose: Composing['purpose'], write: Write): void {
  const { run } = moves;
  run.composing = { purpose, refined: 0, again: [], stage: 'done', thinking: 'open' };
  goOn(moves, strategy, write);
}

/** The next step before something is written; called again whenever one of them has ended. */
export function goOn(moves: Moves, strategy: Strategy, write: Write): void {
  if (refineMore(moves, strategy)) return;
  if (think(moves, strategy)) return;
  write(moves, strategy);
}

const unsureOf = (run: BornRun): readonly (readonly [string, TaskState])[] =>
  heardIn(run, run.epoch).filter(([, task]) => (task.result!.confidence ?? 0) < sureFrom);

/** Asks the judge for hints to the experts that are unsure. True when something was dispatched. */
function refineMore(moves: Moves, strategy: Strategy): boolean {
  const { run } = moves;
  const composing = run.composing!;
  if (run.complexity === 'trivial' || composing.refined >= optionsOf(run.template).refineRounds) return false;
  if (readBudget(run, moves.now).level !== 'free') return false;
  const unsure = unsureOf(run);
  if (unsure.length === 0) return false;
  const named = unsure.map(([, task]) => `${categoryOf(task)} (${task.result!.confidence ?? 0})`).join(', ');
  moves.think('expert.unsure', `Not sure enough: ${named}`);
  run.phase = 'refining';
  composing.refined += 1;
  composing.stage = 'hints';
  composing.again = unsure.map(([id]) => id);
  if (dispatchJudge(moves, 'hints', strategy.hintsInput(run, unsure), { stream: 'held', fromReserve: false })) return true;
  composing.stage = 'done';
  return false;
}

/** The judge's hints are there, or not: the experts named in them are asked again. */
export function hinted(moves: Moves, strategy: Strategy, judge: TaskState, write: Write): void {
  const { run } = moves;
  const composing = run.composing;
  if (run.phase !== 'refining' || composing?.stage !== 'hints') return;
  const hints = judge.result?.status === 'ok' ? (judge.result.hints ?? {}) : {};
  const again: string[] = [];
  for (const id of composing.again) {
    const task = run.tasks[id];
    const hint = hints[id];
    if (!task || !hint) continue;
    const local = `${task.origin ?? task.spec.id}~r${composing.refined}`;
    const againId = taskId(run.runId, run.epoch, local);
    run.tasks[againId] = {
      ...task,
      spec: { ...task.spec, id: local },
      status: 'blocked',
      allowance: null,
      openedAt: null,
      result: null,
      lateUsage: null,
      origin: task.origin ?? task.spec.id,
      again: id,
      hints: hint,
      standing: 'candidate',
    };
    again.push(againId);
  }
  composing.again = again;
  composing.stage = 'answers';
  refineBarrier(moves, strategy, write);
}

/** Goes on once every expert that was asked again has its outcome. */
export function refineBarrier(moves: Moves, strategy: Strategy, write: Write): void {
  const { run } = moves;
  const composing = run.composing;
  if (run.phase !== 'refining' || composing?.stage !== 'answers') return;
  dispatchReady(moves, strategy);
  const again = composing.again.map((id) => run.tasks[id]!);
  if (again.some((task) => task.status !== 'settled')) return;
  const pairs = composing.again.flatMap((id) => {
    const after = run.tasks[id]!;
    const before = run.tasks[after.again!];
    return after.result?.status === 'ok' && before ? [{ id, before, after }] : [];
  });
  composing.stage = 'score';
  const asked = pairs.length > 0 && dispatchJudge(moves, 'score', strategy.scoreInput(run, pairs), { stream: 'held', fromReserve: false });
  if (!asked) endRefinement(moves, strategy, new Map(), write);
}

/** The scores are there, or not: only a better answer is taken, and its findings join the ledger. */
export function scored(moves: Moves, strategy: Strategy, judge: TaskState, write: Write): void {
  const { run } = moves;
  if (run.phase !== 'refining' || run.composing?.stage !== 'score') return;
  const scores = judge.result?.status === 'ok' ? (judge.result.scores ?? []) : [];
  endRefinement(moves, strategy, new Map(scores.map((score) => [score.taskId, score])), write);
}

function endRefinement(
  moves: Moves,
  strategy: Strategy,
  scores: ReadonlyMap<string, { readonly before: number; readonly after: number }>,
  write: Write,
): void {
  const { run } = moves;
  const composing = run.composing!;
  const deltas: string[] = [];
  for (const id of composing.again) {
    const task = run.tasks[id]!;
    const score = scores.get(id);
    const better = score !== undefined && score.after > score.before && task.result?.status === 'ok';
    task.standing = better ? 'accepted' : 'rejected';
    if (score) deltas.push(`${categoryOf(task)} ${signed(score.after - score.before)}${better ? '' : ', not taken'}`);
    if (!better) continue;
    const { finding, confidence } = task.result!;
    const said = finding ? [findingOf(categoryOf(task), id, task.epoch, finding, confidence)] : [];
    run.memory = addFacts(run.memory, said);
    supersede(run, task.again!, said);
    takePlaces(run, id, task, said);
  }
  if (deltas.length > 0) moves.think('refinement.response', `Second try of unsure experts (${composing.refined}): ${deltas.join('; ')}`);
  composing.stage = 'done';
  // Without hints or scores another round would ask the same again.
  if (deltas.length === 0) composing.refined = optionsOf(run.template).refineRounds;
  goOn(moves, strategy, write);
}

const signed = (delta: number): string => `${delta > 0 ? '+' : ''}${Math.round(delta * 100) / 100}`;

/** The thinking step of a complex question. True when it was dispatched. */
function think(moves: Moves, strategy: Strategy): boolean {
  const { run } = moves;
  const composing = run.composing!;
  if (composing.thinking !== 'open') return false;
  composing.thinking = 'over';
  delete run.thinking;
  if (run.complexity !== 'complex' || !optionsOf(run.template).thinking || readBudget(run, moves.now).level !== 'free') return false;
  if (fastAnswer(run)) return false;
  run.phase = 'thinking';
  if (!dispatchJudge(moves, 'thinking', strategy.thinkingInput(run), { stream: 'held', fromReserve: false })) return false;
  composing.thinking = 'asked';
  return true;
}

export function thought(moves: Moves, strategy: Strategy, judge: TaskState, write: Write): void {
  const { run } = moves;
  if (run.phase !== 'thinking' || run.composing?.thinking !== 'asked') return;
  run.composing.thinking = 'over';
  if (judge.result?.status === 'ok') run.thinking = judge.result.text;
  goOn(moves, strategy, write);
}

/** Whether a program reads the answer: then nobody but the composer knows its format. */
export const wantsFormat = (run: BornRun): boolean =>
  run.parameters.response_format !== undefined && run.parameters.response_format['type'] !== 'text';

/**
 * The answer without a merger: exactly one expert was heard, it was sure, and there is neither evidence nor a failed task to speak of. The
 * one expert of a trivial question is taken as it is.
 */
export function fastAnswer(run: BornRun): Draft | null {
  const own = Object.values(run.tasks).filter((task) => !isJudge(task) && task.result?.status !== 'repeated');
  if (run.complexity === 'trivial') {
    const best = heardIn(run, run.epoch)[0];
    return best ? draftOf(run, best[1]) : null;
  }
  const answers = own.filter(heard);
  const [only] = answers;
  if (!only || answers.length > 1 || own.some((task) => !task.spec.capability.startsWith('expert.'))) return null;
  const failed = own.some((task) => task !== only && task.standing === undefined && task.result?.status !== 'ok' && !task.superseded);
  if (failed || (only.result!.confidence ?? 0) < sureFrom || wantsFormat(run)) return null;
  return draftOf(run, only);
}

const draftOf = (run: BornRun, task: TaskState): Draft => ({
  text: task.result!.text,
  sources: [],
  insight: null,
  cutShort: task.result!.cutShort === true,
  epoch: run.epoch,
});

export const plannedTasks = (run: BornRun, epoch: number): readonly (readonly [string, TaskState])[] =>
  tasksOf(run, epoch).filter(([, task]) => !isJudge(task) && task.origin === undefined);
