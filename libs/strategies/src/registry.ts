import type { CommandName } from '@conclave/contracts';
import { Failure } from '@conclave/contracts';
import type { AskingStrategy } from './asks/asked-judge.js';
import { agentic, singlePass } from './committee/committee.js';
import { waves } from './waves/waves.js';

/** Strategies that come with the product. The list is the registry; what an extension adds stands behind it. */
const shipped: readonly AskingStrategy[] = [singlePass, agentic, waves] as readonly AskingStrategy<unknown>[];
const added: AskingStrategy[] = [];

/** Strategies there are. */
export const strategies = (): readonly AskingStrategy[] => [...shipped, ...added];

/** Takes a strategy of an extension in. Throws Failure CONFIGURATION_INVALID where its name is taken. */
export function addStrategy(strategy: AskingStrategy): void {
  if (knownStrategy(strategy.id))
    throw new Failure('CONFIGURATION_INVALID', `The strategy "${strategy.id}" is there already; give it another name.`);
  added.push(strategy);
}

/** Undefined for a strategy that is not there. */
export const knownStrategy = (id: string): AskingStrategy | undefined => strategies().find((strategy) => strategy.id === id);

/** Throws Failure CONFIGURATION_INVALID for a strategy that is not there. */
export function strategyOf(id: string): AskingStrategy {
  const found = knownStrategy(id);
  if (found) return found;
  const names = strategies().map((strategy) => strategy.id);
  throw new Failure('CONFIGURATION_INVALID', `There is no strategy "${id}"; use one of: ${names.join(', ')}.`);
}

/** What runs of a strategy take; of one that is not there, at least their end. */
export const commandsOf = (id: string): readonly CommandName[] => knownStrategy(id)?.commands ?? ['cancel'];
