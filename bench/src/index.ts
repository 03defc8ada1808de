export { benchmarks } from './benchmarks.js';
export type { Benchmark, BenchmarkOptions } from './benchmark.js';
