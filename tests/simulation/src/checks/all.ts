import { evidenceOf, type Check, type Violation } from './check.js';
import { appends, outcomes, replay, retries, terminal } from './runs.js';
import { stream } from './stream.js';
import { calls, cancel, deadLetters, durable, nothingLeft } from './work.js';
import type { Surroundings } from '../world/surroundings.js';

const checks: readonly Check[] = [terminal, appends, outcomes, durable, stream, calls, replay, nothingLeft, deadLetters, retries, cancel];

/** Every violation of every check in a world that is done. */
export async function judge(world: Surroundings): Promise<readonly Violation[]> {
  const evidence = await evidenceOf(world);
  return checks.flatMap((check) => check(evidence));
}
