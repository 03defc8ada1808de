import { parentTaskOf, type TaskInput } from '@conclave/contracts';
import { isExpert, isJudge, type TaskState, type View } from '@conclave/loop';
import type { AnswerWords, Unsourced } from './answer-words/answer-words.js';
import { answerWords } from './answer-words/languages.js';
import { endsUnplanned } from './without-plan.js';

type Seen = Pick<View, 'run'>;

/** Whether no model replied to the last tasks that asked one: another call is likely to end in the same way. */
function isUnheard({ run }: Seen): boolean {
  const asked = Object.values(run.tasks).filter(
    ({ models, result }) => models.length > 0 && result !== null && result.status !== 'repeated',
  );
  const last = asked.filter(({ epoch }) => epoch === asked.at(-1)!.epoch);
  return last.length > 0 && last.every(({ result }) => gaveNothing(result!));
}

/** A reply that could not be read is one, and a cancelled call says nothing about its model. */
const gaveNothing = ({ status, failure }: NonNullable<TaskState['result']>): boolean =>
  status !== 'ok' && status !== 'cancelled' && failure?.code !== 'PROVIDER_REPLY_INVALID';

/** Tasks that look something up or call a tool. */
const looks = ({ run }: Seen): readonly TaskState[] =>
  Object.values(run.tasks).filter((task) => !task.helper && !isJudge(task) && !isExpert(task.spec.capability));

function whyUnsourced(view: Seen): Unsourced {
  if (endsUnplanned(view)) return 'no_calls_left';
  if (view.run.plan === null) return 'no_plan';
  const ran = looks(view).filter(({ result }) => result !== null && result.status !== 'repeated');
  if (ran.length === 0) return 'nothing_asked';
  return ran.every(({ result }) => result!.status !== 'ok') ? 'all_failed' : 'nothing_found';
}

/**
 * Why a run that ends without a single fact is answered from what the model itself knows; null if it is not. A child
 * run is not: its answer would stand in that of its parent like something that was found.
 */
export function unsourced(view: Seen): Unsourced | null {
  const { run } = view;
  if (run.ending === null || run.ending.outcome === 'cancelled' || run.memory.facts.length > 0) return null;
  if (endsUnplanned(view)) return whyUnsourced(view);
  // A mistake in the code of an extension is for its author to see.
  const isMistake = run.failure?.code === 'STRATEGY_FAILED';
  return parentTaskOf(run.runId) || isMistake || isUnheard(view) ? null : whyUnsourced(view);
}

/** What the composer of such an answer is told, and writes below it. */
export const fromOwnKnowledge = (
  why: Unsourced | null,
): Partial<Pick<Extract<TaskInput, { kind: 'synthesis' }>, 'openGap' | 'unsourced'>> =>
  why === null ? {} : { openGap: answerWords(undefined).unsourced[why], unsourced: why };

/** The note below such an answer; empty for any other. */
export const unsourcedNote = (why: Unsourced | undefined, words: AnswerWords): string =>
  why === undefined ? '' : `\n\n${words.unsourced[why]}${words.ownKnowledge}`;
