import { counted, type Outcome, type Reading, type RuleId } from '@conclave/contracts';
import type { BudgetReading } from './budget.js';
import type { RunState, Then } from './state.js';
import type { Limits } from './strategy.js';

/** All inputs of the table, as plain values. */
export interface Situation extends Pick<RunState, 'rounds' | 'failedRounds' | 'roundsWithoutFacts' | 'adjusted' | 'replans'> {
  readonly reading: Reading;
  readonly budget: BudgetReading;
  readonly limits: Limits;
  readonly circling: boolean;
}

export type Choice = { readonly then: 'finish'; readonly outcome: Outcome; readonly reasonCode: string } | { readonly then: Then };

export interface Row {
  readonly id: RuleId;
  readonly when: (s: Situation) => boolean;
  readonly then: (s: Situation) => Choice;
  /** Sentence for the user, with the deciding numbers. */
  readonly sentence: (s: Situation) => string;
}

const finish = (outcome: Outcome, reasonCode: string): Choice => ({ then: 'finish', outcome, reasonCode });
const round = (value: number): string => String(Math.round(value * 100) / 100);

/** Cents, or three digits of a smaller amount: a run may cost a fraction of a cent. */
const money = (value: number): string => (Math.abs(value) < 1 ? String(Number(value.toPrecision(3))) : round(value));
const amount = (name: BudgetReading['name'], value: number): string => (name === 'cost' ? money(value) : round(value));

const budgetWords: Readonly<Record<Exclude<BudgetReading['name'], 'wall_time_s'>, string>> = {
  model_calls: 'model calls',
  tokens: 'tokens',
  prompt_tokens: 'tokens in prompts',
  cost: 'money',
};

/** Adds a full stop unless the sentence ends with one: it may end with foreign text, such as a gap or an error. */
export const ended = (sentence: string): string => (/[.!?…]$/.test(sentence.trimEnd()) ? sentence.trimEnd() : `${sentence.trimEnd()}.`);

export function budgetSentence({ level, name, used, limit }: BudgetReading): string {
  const isOver = level === 'spent' || used > limit ? '' : 'nearly ';
  if (name === 'wall_time_s') return `The wall time is ${isOver}used up: ${Math.round(used)} s of ${limit} s.`;
  return `The budget of ${budgetWords[name]} is ${isOver}used up: ${amount(name, used)} of ${amount(name, limit)}.`;
}

const isForced = ({ level }: BudgetReading): boolean => level === 'reserve' || level === 'spent';
/** Why the run counts as stalled; undefined if it does not. */
function stallOf({ roundsWithoutFacts, limits, circling, reading }: Situation): string | undefined {
  if (reading.circling !== undefined) return reading.circling;
  if (limits.stall !== null && roundsWithoutFacts >= limits.stall)
    return `${counted(roundsWithoutFacts, 'round')} brought no new fact (limit ${limits.stall})`;
  return circling ? 'The last actions were the same one or two over and over' : undefined;
}
const stalls = (s: Situation): boolean => stallOf(s) !== undefined;
const mayReplan = ({ replans, limits }: Situation): boolean => replans < limits.adjusts;
const isOpen = ({ reading }: Situation): boolean => (reading.open ?? '') !== '';

/** First match wins. D1 is a command, not a row: it needs no reading. */
export const decisionTable: readonly Row[] = [
  {
    id: 'D2',
    when: ({ budget, reading }) => isForced(budget) || reading.unaffordable !== undefined,
    then: ({ budget }) => finish('limit_reached', `budget_${isForced(budget) ? budget.name : 'model_calls'}`),
    sentence: ({ budget, reading }) =>
      isForced(budget) ? budgetSentence(budget) : `The budget leaves no model call for ${reading.unaffordable}.`,
  },
  {
    id: 'D3',
    when: ({ reading, limits }) =>
      reading.sufficient === true &&
      (reading.held ?? 0) === 0 &&
      (reading.confidence === undefined || reading.confidence >= (limits.threshold ?? 0)),
    then: ({ reading }) => finish('completed', reading.unread ? `assessment_${reading.unread}` : 'sufficient'),
    sentence: ({ reading: { unread, by, confidence, ends }, limits, rounds }) => {
      const after = `after ${counted(rounds, 'round')}`;
      if (ends !== undefined) return `Nothing more is done ${after}. ${ends}.`;
      if (by === 'planner') return `The planner says that nothing more is needed ${after}.`;
      if (by === 'model')
        return `The model says with confidence ${round(confidence ?? 0)} that the goal is reached ${after} (needed: ${limits.threshold ?? 0}).`;
      if (unread === undefined) return `The evidence was assessed as sufficient ${after}.`;
      const why = unread === 'failed' ? 'The gap check failed' : 'The gap check gave no readable verdict';
      return `${why} ${after}: whether something is missing was not assessed.`;
    },
  },
  {
    id: 'D4',
    when: ({ reading, failedRounds, limits }) => reading.model === 'stuck' || failedRounds >= limits.stuck,
    then: ({ reading }) => finish('stuck', reading.model === 'stuck' ? 'said_stuck' : 'rounds_failed'),
    sentence: ({ reading, failedRounds, limits }) =>
      reading.model === 'stuck'
        ? ended(`${reading.by === 'rounds' ? 'It' : 'The model says that it'} cannot go on: ${reading.open ?? 'no reason given'}`)
        : `${failedRounds} rounds in a row failed (limit ${limits.stuck}).`,
  },
  {
    id: 'D6',
    when: ({ rounds, limits }) => rounds >= limits.rounds,
    then: ({ limits }) => finish(limits.end, limits.end === 'completed' ? 'single_pass' : 'rounds'),
    sentence: ({ limits, reading }) =>
      limits.end === 'completed'
        ? 'The one round of this template is done.'
        : ended(
            `${limits.rounds === 1 ? 'The one round was' : `All ${limits.rounds} rounds were`} used; still open: ${reading.open || 'not assessed after the last round'}`,
          ),
  },
  {
    id: 'D5',
    when: ({ reading, failedRounds }) => (reading.held ?? 0) > 0 && failedRounds === 0,
    then: () => ({ then: 'continue' }),
    sentence: ({ reading }) => `The plan has ${counted(reading.held ?? 0, 'step')} left and the last round was clean.`,
  },
  {
    id: 'D7',
    when: (s) => stalls(s) && !s.adjusted && mayReplan(s),
    then: () => ({ then: 'adjust' }),
    sentence: (s) => `${stallOf(s)!}; what was tried is forbidden now.`,
  },
  {
    id: 'D8',
    when: stalls,
    then: () => finish('stalled', 'no_new_facts'),
    sentence: (s) => `${stallOf(s)!}${s.adjusted ? ' again' : ', and no re-plan is left'}.`,
  },
  {
    id: 'D9',
    when: (s) => isOpen(s) && s.reading.model !== 'continue' && mayReplan(s),
    then: () => ({ then: 'adjust' }),
    sentence: ({ reading }) => `Still missing: ${reading.open}`,
  },
  {
    id: 'D10',
    when: ({ reading, limits }) => reading.question !== undefined && limits.asks === true,
    then: () => ({ then: 'ask_user' }),
    sentence: ({ reading }) => `Only the user can say: ${reading.question}`,
  },
  {
    id: 'D11',
    when: () => true,
    then: ({ reading }) => ({ then: reading.model === 'continue' ? 'continue' : reading.model === 'adjust' ? 'adjust' : 'ask_model' }),
    sentence: ({ reading }) =>
      reading.by === 'planner' && reading.model === 'continue'
        ? 'The planner wants to go on with what it knows now.'
        : reading.model
          ? `No rule applies; the model says: ${reading.model}.`
          : 'No rule applies; the model is to decide.',
  },
];

export function decideRow(situation: Situation): { readonly rule: RuleId; readonly choice: Choice; readonly sentence: string } {
  const row = decisionTable.find((candidate) => candidate.when(situation))!;
  return { rule: row.id, choice: row.then(situation), sentence: row.sentence(situation) };
}

/** Numbers of an ended run that explain why other rules did not end it. */
export type Numbers = Pick<Situation, 'budget' | 'limits' | 'rounds' | 'failedRounds' | 'roundsWithoutFacts'>;

/** The rules that could have ended the run and did not, each with its number. */
export function otherRules(rule: RuleId | null, s: Numbers): readonly { readonly rule: RuleId; readonly sentence: string }[] {
  const { budget, limits } = s;
  const used =
    budget.name === 'wall_time_s'
      ? `${Math.round(budget.used)} s of ${budget.limit} s`
      : `${amount(budget.name, budget.used)} of ${amount(budget.name, budget.limit)} ${budgetWords[budget.name]}`;
  const rows: readonly (readonly [RuleId, string])[] = [
    ['D2', `The budget that was used most: ${used}.`],
    ['D3', 'Nothing reported the evidence as sufficient.'],
    ['D4', `${counted(s.failedRounds, 'round')} in a row failed (limit ${limits.stuck}).`],
    ['D6', `${s.rounds} of ${counted(limits.rounds, 'round')} were used.`],
    ...(limits.stall === null
      ? []
      : [['D8', `${counted(s.roundsWithoutFacts, 'round')} without a new fact (limit ${limits.stall}).`] as const]),
  ];
  return rows.filter(([id]) => id !== rule).map(([id, sentence]) => ({ rule: id, sentence }));
}
