import type { Need } from './crash-points.js';
import type { Random } from './random.js';

/** Which parts of the pipeline the templates of a seed have. Each seed uses some and leaves out others, as with the faults. */
export interface Features {
  /** A second tier, and two models of the first tier, between which the scores choose. */
  readonly tiers: boolean;
  readonly refineRounds: number;
  readonly thinking: boolean;
  readonly critic: boolean;
  readonly complexity: 'auto' | 'trivial' | 'moderate' | 'complex';
  readonly tools: boolean;
  /** A collection into which documents are uploaded and from which some are removed. */
  readonly documents: boolean;
  readonly caches: boolean;
  readonly graph: boolean;
  /** For each client: whether it asks the template of the strategy `waves`. */
  readonly waves: number;
  /**
   * What every client asks instead of a committee: `decompose` with sub-topics as tasks, as runs of the committee, or as runs of itself
   * down to the greatest allowed depth. Null in most seeds, because such a run consists of many.
   */
  readonly topics: 'tasks' | 'committees' | 'tree' | null;
}

/** Includes what the storm needs for its crash point; the rest is drawn. */
export function drawFeatures(random: Random, need: Need | null): Features {
  const knows = need === 'knowledge' || need === 'rating' || need === 'deletion';
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
    caches: random.chance(0.2) || knows || need === 'topics',
    graph: random.chance(0.2) || knows,
    waves: knows || need === 'tiers' ? 0 : waves,
    topics: drawTopics(random.fork('topics'), need),
  };
}

/** Share of the seeds that have sub-topics without needing them. */
const topicsShare = 0.12;

/** A seed whose crash point needs a part of the committee keeps its committee. */
function drawTopics(random: Random, need: Need | null): Features['topics'] {
  if (need === 'topics') return 'tasks';
  if (need === 'children') return random.pick(['committees', 'tree'] as const);
  const isFree = need === null || need === 'cancel' || need === 'early' || need === 'outage' || need === 'restart';
  return isFree && random.chance(topicsShare) ? random.pick(['tasks', 'committees', 'tree', 'tree'] as const) : null;
}
