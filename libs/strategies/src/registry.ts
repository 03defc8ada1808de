import type { CommandName } from '@conclave/contracts';
import { Failure } from '@conclave/contracts';
import type { AskingStrategy } from './asks/asked-judge.js';
import { adaptive } from './adaptive/adaptive.js';
import { agentic, singlePass } from './committee/committee.js';
import { addedCapabilities } from './capabilities/declared.js';
import { decompose } from './decompose/decompose.js';
import { reasoning } from './reasoning/reasoning.js';
import { reflectiveRag } from './reflective-rag/reflective-rag.js';
import { waves } from './waves/waves.js';

/** Strategies shipped with the product; those of extensions follow. */
const shipped: readonly AskingStrategy[] = [
  singlePass,
  agentic,
  waves,
  reflectiveRag,
  reasoning,
  decompose,
  adaptive,
] as readonly AskingStrategy<unknown>[];
const added: AskingStrategy[] = [];

/** All known strategies. */
export const strategies = (): readonly AskingStrategy[] => [...shipped, ...added];

/** Registers a strategy of an extension. Throws CONFIGURATION_INVALID if its name is taken. */
export function addStrategy(strategy: AskingStrategy): void {
  if (knownStrategy(strategy.id))
    throw new Failure('CONFIGURATION_INVALID', `The strategy "${strategy.id}" already exists; give it another name.`);
  added.push(strategy);
}

/** Strategies and capabilities that extensions added to this process, with the versions of their modules. */
export const broughtByExtensions = (): readonly {
  readonly kind: 'strategy' | 'capability';
  readonly name: string;
  readonly version: string;
}[] => [
  ...added.map(({ id, version = '' }) => ({ kind: 'strategy' as const, name: id, version })),
  ...addedCapabilities().map(({ declaration: { name, version = '' } }) => ({ kind: 'capability' as const, name, version })),
];

/** Returns undefined for an unknown strategy. */
export const knownStrategy = (id: string): AskingStrategy | undefined => strategies().find((strategy) => strategy.id === id);

/** This process does not have a strategy: its name is wrong, or the module that provides it was not loaded here. */
export class StrategyMissing extends Failure {
  constructor(readonly strategy: string) {
    const names = strategies().map(({ id }) => id);
    super(
      'CONFIGURATION_INVALID',
      `There is no strategy "${strategy}". If an extension provides it, name its module under \`extensions\` in the configuration of every process, and restart them; else use one of: ${names.join(', ')}.`,
    );
  }
}

/** Throws StrategyMissing for an unknown strategy. */
export function strategyOf(id: string): AskingStrategy {
  const found = knownStrategy(id);
  if (found) return found;
  throw new StrategyMissing(id);
}

/** Commands that runs of a strategy accept; for an unknown strategy only `cancel`. */
export const commandsOf = (id: string): readonly CommandName[] => knownStrategy(id)?.commands ?? ['cancel'];
