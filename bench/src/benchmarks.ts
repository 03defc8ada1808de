import { b2 } from './b2/b2.js';
import type { Benchmark } from './benchmark.js';

/** Everything `npm run bench` knows, in the order of `all`. */
export const benchmarks: readonly Benchmark[] = [b2];
