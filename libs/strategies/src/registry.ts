import type { CommandName, StrategyId } from '@conclave/contracts';
import { Failure } from '@conclave/contracts';
import type { Strategy } from '@conclave/loop';
import { agentic, singlePass } from './committee/committee.js';

/** Strategies this version has. The list is the registry; templates that name another one are not offered. */
export const strategies: readonly Strategy[] = [singlePass, agentic] as readonly Strategy<unknown>[];

export const isShipped = (id: StrategyId): boolean => strategies.some((strategy) => strategy.id === id);

/** Throws Failure CONFIGURATION_INVALID for a strategy this version does not have. */
export function strategyOf(id: string): Strategy {
  const found = strategies.find((strategy) => strategy.id === id);
  if (!found)
    throw new Failure(
      'CONFIGURATION_INVALID',
      `The strategy "${id}" is not in this version; use one of: ${strategies.map((strategy) => strategy.id).join(', ')}.`,
    );
  return found;
}

/** What runs of a strategy take; of one that this version does not have, at least their end. */
export const commandsOf = (id: StrategyId): readonly CommandName[] =>
  strategies.find((strategy) => strategy.id === id)?.commands ?? ['cancel'];
