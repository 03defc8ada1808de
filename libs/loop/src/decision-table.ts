import type { Outcome, RuleId } from '@conclave/contracts';
import type { BudgetReading } from './budget.js';

/** Everything the table looks at, as plain values. */
export interface Situation {
  readonly cancelled: string | null;
  readonly budget: BudgetReading;
  /** Verdict of the assessment; null where nothing was assessed. */
  readonly sufficient: boolean | null;
  /** Why the verdict is only the fallback `sufficient`; null where it was read. */
  readonly unread: 'unreadable' | 'failed' | null;
  readonly failedRounds: number;
  readonly stuckThreshold: number;
  readonly heldTasksLeft: boolean;
  readonly lastRoundClean: boolean;
  readonly rounds: number;
  readonly maxRounds: number;
  /** Whether the strategy assesses at all. */
  readonly assesses: boolean;
  readonly roundsWithoutFacts: number;
  readonly stallLimit: number;
  readonly circling: boolean;
  readonly replansLeft: number;
  readonly gap: string;
  readonly onlyUserCanFill: boolean;
}

export type Move =
  | { readonly then: 'finish'; readonly outcome: Outcome; readonly reasonCode: string }
  | { readonly then: 'continue' }
  | { readonly then: 'adjust'; readonly forbidTried: boolean }
  | { readonly then: 'ask_user' }
  | { readonly then: 'ask_model' };

export interface Row {
  readonly id: RuleId;
  readonly when: (s: Situation) => boolean;
  readonly then: (s: Situation) => Move;
  /** Sentence the user sees, with the numbers that mattered. */
  readonly sentence: (s: Situation) => string;
}

const finish = (outcome: Outcome, reasonCode: string): Move => ({ then: 'finish', outcome, reasonCode });
const round = (value: number): string => String(Math.round(value * 100) / 100);

const noProgress = (s: Situation): string =>
  s.roundsWithoutFacts >= s.stallLimit
    ? `${s.roundsWithoutFacts} rounds brought no new fact (limit ${s.stallLimit})`
    : 'The last actions were the same one or two over and over';

const budgetWords: Readonly<Record<Situation['budget']['name'], string>> = {
  model_calls: 'model calls',
  tokens: 'tokens',
  prompt_tokens: 'tokens in prompts',
  wall_time_s: 'seconds',
  cost: 'money',
};

/** A sentence that ends with what somebody else wrote, such as a gap or an error, which may bring its own full stop. */
export const ended = (sentence: string): string => (/[.!?…]$/.test(sentence.trimEnd()) ? sentence.trimEnd() : `${sentence.trimEnd()}.`);

/** First match wins (loop.md, Decision table). */
export const decisionTable: readonly Row[] = [
  {
    id: 'D1',
    when: (s) => s.cancelled !== null,
    then: () => finish('cancelled', 'cancelled'),
    sentence: (s) => ended(`The run was cancelled: ${s.cancelled}`),
  },
  {
    id: 'D2',
    when: (s) => s.budget.level === 'reserve' || s.budget.level === 'spent',
    then: (s) => finish('limit_reached', `budget_${s.budget.name}`),
    sentence: (s) =>
      `The budget of ${budgetWords[s.budget.name]} is ${s.budget.level === 'spent' || s.budget.used > s.budget.limit ? '' : 'nearly '}used up: ${round(s.budget.used)} of ${round(s.budget.limit)}.`,
  },
  {
    id: 'D3',
    when: (s) => s.sufficient === true && !s.heldTasksLeft,
    then: (s) => finish('completed', s.unread === null ? 'sufficient' : `assessment_${s.unread}`),
    sentence: (s) => {
      const after = `after ${s.rounds} ${s.rounds === 1 ? 'round' : 'rounds'}`;
      if (s.unread === null) return `The evidence was assessed as sufficient ${after}.`;
      const why = s.unread === 'failed' ? 'The gap check failed' : 'The gap check gave no readable verdict';
      return `${why} ${after}: whether something is missing was not assessed.`;
    },
  },
  {
    id: 'D4',
    when: (s) => s.failedRounds >= s.stuckThreshold,
    then: () => finish('stuck', 'rounds_failed'),
    sentence: (s) => `${s.failedRounds} rounds in a row failed (limit ${s.stuckThreshold}).`,
  },
  {
    id: 'D5',
    when: (s) => s.heldTasksLeft && s.lastRoundClean,
    then: () => ({ then: 'continue' }),
    sentence: () => 'The plan has steps left and the last round was clean.',
  },
  {
    id: 'D6',
    when: (s) => s.rounds >= s.maxRounds,
    then: (s) => (s.assesses ? finish('limit_reached', 'rounds') : finish('completed', 'single_pass')),
    sentence: (s) =>
      s.assesses
        ? ended(`All ${s.maxRounds} rounds were used; still open: ${s.gap || 'not assessed after the last round'}`)
        : 'The one round of this template is done.',
  },
  {
    id: 'D7',
    when: (s) => (s.roundsWithoutFacts >= s.stallLimit || s.circling) && s.replansLeft > 0,
    then: () => ({ then: 'adjust', forbidTried: true }),
    sentence: (s) => `${noProgress(s)}; what was tried is forbidden now.`,
  },
  {
    id: 'D8',
    when: (s) => s.roundsWithoutFacts >= s.stallLimit || s.circling,
    then: () => finish('stalled', 'no_new_facts'),
    sentence: (s) => `${noProgress(s)}, and no re-plan is left.`,
  },
  {
    id: 'D9',
    when: (s) => s.gap !== '' && s.replansLeft > 0,
    then: () => ({ then: 'adjust', forbidTried: false }),
    sentence: (s) => `Still missing: ${s.gap}`,
  },
  {
    id: 'D10',
    when: (s) => s.onlyUserCanFill,
    then: () => ({ then: 'ask_user' }),
    sentence: (s) => `Only the user can say: ${s.gap}`,
  },
  { id: 'D11', when: () => true, then: () => ({ then: 'ask_model' }), sentence: () => 'No rule applies; the model decides.' },
];

export function decideRow(situation: Situation): { readonly rule: RuleId; readonly move: Move; readonly sentence: string } {
  const row = decisionTable.find((candidate) => candidate.when(situation))!;
  return { rule: row.id, move: row.then(situation), sentence: row.sentence(situation) };
}
