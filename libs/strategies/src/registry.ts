import type { CommandName } from '@conclave/contracts';
import { Failure } from '@conclave/contracts';
import type { AskingStrategy } from './asks/asked-judge.js';
import { agentic, singlePass } from './committee/committee.js';
import { waves } from './waves/waves.js';

/** Strategies this version has. The list is the registry; a template that names another one is an invalid configuration. */
export const strategies: readonly AskingStrategy[] = [singlePass, agentic, waves] as readonly AskingStrategy<unknown>[];

/** Undefined for a strategy this version does not have. */
export const knownStrategy = (id: string): AskingStrategy | undefined => strategies.find((strategy) => strategy.id === id);

/** Throws Failure CONFIGURATION_INVALID for a strategy this version does not have. */
export function strategyOf(id: string): AskingStrategy {
  const found = knownStrategy(id);
  if (!found)
    throw new Failure(
      'CONFIGURATION_INVALID',
      `The strategy "${id}" is not in this version; use one of: ${strategies.map((strategy) => strategy.id).join(', ')}.`,
    );
  return found;
}

/** What runs of a strategy take; of one that this version does not have, at least their end. */
export const commandsOf = (id: string): readonly CommandName[] => knownStrategy(id)?.commands ?? ['cancel'];
