import type { Allowance, GapDetected, RunLimits } from '@conclave/contracts';
import { reserveShare, type Strategy } from '@conclave/loop';

/**
 * What a plan may use of what is left, re-asks included: never the calls that its run needs after it, nor the reserve of tokens and cost. With
 * those, a plan would be paid for that nobody could answer with. Older records do not say which cost is left.
 */
export function planAllowance(left: GapDetected['data']['left'], limits: RunLimits, { keeps = 1 }: Strategy['planner']): Allowance {
  const without = (amount: number, limit: number): number => Math.max(0, amount - (limit - limit * reserveShare));
  return {
    calls: Math.max(0, left.model_calls - keeps),
    tokens: Math.floor(without(left.tokens, limits.tokens)),
    cost: limits.cost === null ? null : without(left.cost ?? limits.cost, limits.cost),
  };
}
