import { memoryOverTime } from './memory-over-time/memory-over-time.js';
import { passThrough } from './pass-through/pass-through.js';
import { overheadOfShippedTemplate, overheadPerRun } from './overhead-per-run/overhead-per-run.js';
import { hopOverKafka } from './hop-over-kafka/hop-over-kafka.js';
import { throughputByWorkers } from './throughput-by-workers/throughput-by-workers.js';
import { shortBesideLongTasks } from './short-beside-long-tasks/short-beside-long-tasks.js';
import { openStreams } from './open-streams/open-streams.js';
import { timeToFirstToken } from './time-to-first-token/time-to-first-token.js';
import { cancelToUpstream } from './cancel-to-upstream/cancel-to-upstream.js';
import { answerFromCache } from './answer-from-cache/answer-from-cache.js';
import { subTopicsAtOnce } from './sub-topics-at-once/sub-topics-at-once.js';
import { processorTimeOfAStart } from './processor-time-of-a-start/processor-time-of-a-start.js';
import { costOfTraces } from './cost-of-traces/cost-of-traces.js';
import { sizing } from './sizing/sizing.js';
import type { Benchmark } from './benchmark.js';

/** All benchmarks of `npm run bench`, in the order of `all`. */
export const benchmarks: readonly Benchmark[] = [
  passThrough,
  overheadPerRun,
  overheadOfShippedTemplate,
  hopOverKafka,
  throughputByWorkers,
  shortBesideLongTasks,
  timeToFirstToken,
  openStreams,
  cancelToUpstream,
  answerFromCache,
  memoryOverTime,
  subTopicsAtOnce,
  processorTimeOfAStart,
  costOfTraces,
  sizing,
];
