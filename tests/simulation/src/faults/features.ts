import type { Need } from './crash-points.js';
import type { Random } from './random.js';

/** Which parts of the pipeline the templates of a seed have. Each seed takes some and leaves others out, as with the faults. */
export interface Features {
  /** A second tier, and two models of the first one among which the scores draw. */
  readonly tiers: boolean;
  readonly refineRounds: number;
  readonly thinking: boolean;
  readonly critic: boolean;
  readonly complexity: 'auto' | 'trivial' | 'moderate' | 'complex';
  readonly tools: boolean;
  /** A collection, into which documents are uploaded and out of which some are removed. */
  readonly documents: boolean;
  readonly caches: boolean;
  readonly graph: boolean;
  /** Per client: that it asks the template of the strategy `waves`. */
  readonly waves: number;
}

/** What the storm needs for its crash point is there; the rest is drawn. */
export function drawFeatures(random: Random, need: Need | null): Features {
  const knows = need === 'knowledge';
  const waves = random.pick([0, 0, 0, 0.5, 1]);
  const level = random.pick(['moderate', 'moderate', 'moderate', 'auto', 'trivial', 'complex'] as const);
  return {
    tiers: random.chance(0.25) || need === 'tiers',
    refineRounds: random.pick([0, 0, 0, 1, 2]),
    thinking: random.chance(0.25),
    critic: random.chance(0.2),
    complexity: knows ? 'moderate' : need === 'lookup' ? 'auto' : level,
    tools: random.chance(0.25) || need === 'tools',
    documents: random.chance(0.15) || knows,
    caches: random.chance(0.2) || knows,
    graph: random.chance(0.2) || knows,
    waves: knows || need === 'tiers' ? 0 : waves,
  };
}
