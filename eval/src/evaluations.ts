import { cache } from './cache/cache.js';
import type { Evaluation } from './evaluation.js';
import { loop } from './loop/loop.js';
import { recall } from './recall/recall.js';
import { router } from './router/router.js';
import { twoHop } from './two-hop/two-hop.js';
import { routing } from './routing/routing.js';

/** All evaluations of `npm run eval`, in the order of its help text and of `all`. */
export const evaluations: readonly Evaluation[] = [routing, router, cache, recall, twoHop, loop];
