import type { Allowance, GapDetected } from '@conclave/contracts';
import { runCapability } from './child-runs.js';
import { tasksThatAre, type RunState } from './state.js';
import { usageOf } from './task-results.js';

/** Shares of a budget at which the run changes its behaviour. */
const narrowShare = 0.7;
export const reserveShare = 0.85;

export type BudgetLevel = 'free' | 'narrow' | 'reserve' | 'spent';
export interface BudgetReading {
  readonly level: BudgetLevel;
  /** The first budget with this level, in the order of `readBudget`; the ones after it may have a larger used share. */
  readonly name: 'model_calls' | 'tokens' | 'cost' | 'prompt_tokens' | 'wall_time_s';
  readonly used: number;
  readonly limit: number;
}

const levelOf = (reached: (share: number) => boolean): BudgetLevel =>
  reached(1) ? 'spent' : reached(reserveShare) ? 'reserve' : reached(narrowShare) ? 'narrow' : 'free';
const rank: Record<BudgetLevel, number> = { free: 0, narrow: 1, reserve: 2, spent: 3 };

/**
 * The budget of a run with the highest level. The context guard (`prompt_tokens`) forces the finish when it is reached but still allows the
 * synthesis, so it never counts as `spent` (agentic-replanning-loop, Safety Mechanisms).
 */
export const readBudget = (run: RunState, now: number): BudgetReading =>
  readingsOf(run, now).reduce((worst, next) => (rank[next.level] > rank[worst.level] ? next : worst));

/** The budget of which the largest share is used, whatever its level; the first of equals. */
export const mostUsedBudget = (run: RunState, now: number): BudgetReading =>
  readingsOf(run, now).reduce((most, next) => (shareOf(next) > shareOf(most) ? next : most));

const shareOf = ({ used, limit }: BudgetReading): number => (limit > 0 ? used / limit : 0);

function readingsOf(run: RunState, now: number): readonly BudgetReading[] {
  const { spent } = run;
  const { limits } = run.request;
  const readings: BudgetReading[] = [
    reading('model_calls', spent.calls, limits.model_calls),
    reading('tokens', spent.prompt + spent.completion, limits.tokens),
    readWallTime(run, now),
    guard(spent.prompt - childPrompts(run), limits.prompt_tokens),
  ];
  if (limits.cost !== null) readings.push(reading('cost', spent.cost, limits.cost));
  return readings;
}

/**
 * How much of the wall time is used, in seconds. Its level is compared in milliseconds, as the run's timer is set: a quotient may fall short
 * of the share by a rounding error, and the timer would then fire again at once.
 */
export function readWallTime(run: RunState, now: number): BudgetReading {
  const [ran, limit] = [ranMs(run, now), wallTimeOf(run)];
  return { name: 'wall_time_s', used: ran / 1000, limit, level: levelOf((share) => ran >= limit * 1000 * share) };
}

/** Prompt tokens of child runs: no prompt of this run contains them, and each child has a guard of its own. */
const childPrompts = ({ tasks }: RunState): number =>
  Object.values(tasks).reduce((sum, task) => sum + (task.spec.capability === runCapability ? usageOf(task).prompt : 0), 0);

/** Milliseconds the run's clock has been running: it stops while the run is paused or waits for the user. */
export const ranMs = ({ ran, since }: RunState, now: number): number => ran + (since === null ? 0 : Math.max(0, now - since));

/** Seconds of wall time the run may use: the smaller of its limit and what its strategy allows. */
export const wallTimeOf = ({ request, wallS }: Pick<RunState, 'request' | 'wallS'>): number =>
  Math.min(request.limits.wall_time_s, wallS ?? Number.POSITIVE_INFINITY);

const reading = (name: BudgetReading['name'], used: number, limit: number): BudgetReading => ({
  name,
  used,
  limit,
  level: levelOf((share) => used / limit >= share),
});
const guard = (used: number, limit: number): BudgetReading => ({
  name: 'prompt_tokens',
  used,
  limit,
  level: used > limit ? 'reserve' : 'free',
});

/** Sum of what open tasks may still spend. */
export function reserved(run: RunState): Allowance {
  return tasksThatAre('open', run).reduce<Allowance>(
    (sum, [, { allowance }]) => ({
      calls: sum.calls + allowance!.calls,
      tokens: sum.tokens + allowance!.tokens,
      cost: sum.cost === null || allowance!.cost === null ? null : sum.cost + allowance!.cost,
    }),
    { calls: 0, tokens: 0, cost: run.request.limits.cost === null ? null : 0 },
  );
}

/** Maximum tokens a task reserves, unless its own input is larger; enough for the context of common local models. */
const tokensPerTask = 32_000;
/** Tokens reserved for the reply to a large input. */
const replyTokens = 8_192;

/** Tokens a task with this input needs: two characters per token, so that no alphabet falls short, plus room for the reply. */
export const tokensFor = (input: unknown): number => Math.max(tokensPerTask, Math.ceil(JSON.stringify(input).length / 2) + replyTokens);

/**
 * Allowance of one of `sharers` tasks dispatched now: an even share of what is neither spent nor reserved. The reserve (15 %) is kept for
 * the judge's last call unless `fromReserve`. If there are fewer calls than sharers, the first ones get one each, because a plan lists what
 * matters most first. Zero calls means: do not dispatch.
 */
export function allowanceFor(
  run: RunState,
  sharers: number,
  wanted: { readonly calls: number; readonly tokens: number },
  fromReserve: boolean,
): Allowance {
  const held = reserved(run);
  const { limits } = run.request;
  const share = fromReserve ? 1 : reserveShare;
  const left = (limit: number, spent: number, reservedNow: number): number => Math.max(0, limit * share - spent - reservedNow);
  const shared = Math.floor(left(limits.model_calls, run.spent.calls, held.calls));
  const calls = Math.floor(shared / Math.max(1, Math.min(sharers, shared)));
  const tokens = Math.floor(left(limits.tokens, run.spent.prompt + run.spent.completion, held.tokens) / sharers);
  const cost = limits.cost === null ? null : left(limits.cost, run.spent.cost, held.cost ?? 0) / sharers;
  const nothing = tokens <= 0 || (cost !== null && cost <= 0);
  return { calls: nothing ? 0 : Math.min(calls, wanted.calls), tokens: Math.min(tokens, wanted.tokens), cost };
}

/** Model calls that the run may still make. */
export const callsLeft = ({ request, spent }: RunState): number => request.limits.model_calls - spent.calls;

/** Signal of a plan that was made without the planner, because the budget leaves nothing for one. A strategy that needs none sets others. */
export const unplannedSignal = 'budget:plan';

/** Whether the budget left nothing for a plan that the question needs: the run does what it can and ends. */
export const lacksPlan = ({ plan }: RunState): boolean => plan !== null && plan.signals.includes(unplannedSignal);

export const budgetLeft = (run: RunState, now: number): GapDetected['data']['left'] => ({
  model_calls: Math.max(0, callsLeft(run)),
  tokens: Math.max(0, run.request.limits.tokens - run.spent.prompt - run.spent.completion),
  wall_time_s: Math.max(0, Math.round(wallTimeOf(run) - ranMs(run, now) / 1000)),
  ...(run.request.limits.cost === null ? {} : { cost: Math.max(0, run.request.limits.cost - run.spent.cost) }),
});
