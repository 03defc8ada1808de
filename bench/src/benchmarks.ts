import { b10 } from './b10/b10.js';
import { b2 } from './b2/b2.js';
import { b3 } from './b3/b3.js';
import { b4 } from './b4/b4.js';
import { b5 } from './b5/b5.js';
import { b6 } from './b6/b6.js';
import { b8 } from './b8/b8.js';
import { b9 } from './b9/b9.js';
import type { Benchmark } from './benchmark.js';

/** Everything `npm run bench` knows, in the order of `all`. */
export const benchmarks: readonly Benchmark[] = [b2, b3, b4, b5, b6, b8, b9, b10];
