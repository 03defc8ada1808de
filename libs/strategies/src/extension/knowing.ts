import type { Draft } from '@conclave/contracts';
import type { TaskState, View } from '@conclave/loop';
import type { AskedJudge, AskingStrategy } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { synthesisInput } from '../committee/context.js';
import { initialOwn } from '../committee/own.js';
import { fromOwnKnowledge, unsourced } from '../own-knowledge.js';

/** Name of the judge that answers a run without findings; no judge of an extension may have it. */
export const knowing = 'knowledge';

const taskOf = ({ run }: Pick<View, 'run'>): TaskState | undefined =>
  Object.values(run.tasks).find(({ spec }) => spec.capability === `judge.${knowing}`);

/** Writes the answer of a run that has found nothing, from what the model itself knows. */
const knowledge: AskedJudge<unknown> = {
  question: synthesisQuestion,
  task: 'Write the answer',
  input: (view) => ({ ...synthesisInput({ ...view, own: initialOwn }, null), ...fromOwnKnowledge(unsourced(view)) }),
  // Its text is read from its task: nothing is stored in the strategy's own part, whose form only the strategy knows.
  take: (own) => own,
};

function known(view: Pick<View, 'run'>): Draft | null {
  const { result, epoch } = taskOf(view) ?? {};
  if (result?.status !== 'ok') return null;
  return { text: result.text, sources: [], insight: null, cutShort: result.cutShort, epoch: epoch! };
}

/** The strategy; if its run ends with no move left and nothing found, one model call answers. */
export const orKnowing = <Own>(strategy: AskingStrategy<Own>): AskingStrategy<Own> => ({
  ...strategy,
  judges: { ...strategy.judges, [knowing]: knowledge as AskedJudge<Own> },
  next: (view) => {
    const moves = strategy.next(view);
    if (moves.length > 0 || unsourced(view) === null || taskOf(view) || strategy.lastAnswer(view, '') !== null) return moves;
    return [{ do: 'judge', name: knowing, from: 'reserve', stream: 'live', composes: true }];
  },
  lastAnswer: (view, reason) => strategy.lastAnswer(view, reason) ?? known(view),
});
