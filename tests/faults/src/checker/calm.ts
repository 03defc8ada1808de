import type { Finding } from '../evidence/evidence.js';
import { findingOf, type Case } from './case.js';

const finding = findingOf('calm-afterwards');
/** A process may grow by this many megabytes, whatever its size was. */
export const freeMb = 64;

/** Check 8: nothing is left to do, nothing has grown, and everything closes. */
export function checkCalm({ evidence, bounds }: Case): readonly Finding[] {
  return [
    ...evidence.lag
      .filter(({ records }) => records > 0)
      .map(({ group, topic, records }) => finding(`${group} ${topic}`, `${records} records are not finished.`)),
    ...evidence.memory
      .filter(({ beforeMb, afterMb }) => afterMb > beforeMb * bounds.memoryFactor + freeMb)
      .map(({ process, beforeMb, afterMb }) =>
        finding(
          process,
          `It took ${Math.round(beforeMb)} MB before and ${Math.round(afterMb)} MB after, more than ${bounds.memoryFactor} times as much and ${freeMb} MB.`,
        ),
      ),
    ...evidence.closings.flatMap(({ process, exit, ms }) => {
      if (!exit) return [finding(process, 'It did not end when it was told to.')];
      if (exit.code !== 0) return [finding(process, exit.signal ? `It ended by ${exit.signal}.` : `It ended with code ${exit.code}.`)];
      return ms > bounds.closeMs ? [finding(process, `It took ${ms} ms to end; the bound is ${bounds.closeMs} ms.`)] : [];
    }),
  ];
}
