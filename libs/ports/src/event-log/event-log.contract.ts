import { afterEach, describe, expect, it } from '@jest/globals';
import { deliveryPromises } from './testing/delivery.contract.js';
import { erasingPromises } from './testing/erasing.contract.js';
import { failurePromises } from './testing/failure.contract.js';
import { inputTopic, outputTopic } from './testing/sample-events.js';
import { publishingPromises } from './testing/publishing.contract.js';
import { redrivePromises } from './testing/redrive.contract.js';
import { runningPromises } from './testing/running.contract.js';
import { suspectPromises } from './testing/suspects.contract.js';
import { Stage, type EventLogUnderTest, type LogPromise } from './testing/event-log-world.js';

export const logPromises: readonly LogPromise[] = [
  ...publishingPromises,
  ...deliveryPromises,
  ...failurePromises,
  ...suspectPromises,
  ...redrivePromises,
  ...erasingPromises,
  ...runningPromises,
];

/** The promises of the port, run against an adapter. */
export function describeEventLog(name: string, underTest: EventLogUnderTest): void {
  const { open, patienceMs = 10_000, longTaskMs = 1500, heldBound = 200, gaps = {} } = underTest;
  describe(`${name} is an event log that`, () => {
    let stage: Stage | null = null;
    afterEach(async () => {
      await stage?.end();
      stage = null;
    }, 60_000);

    for (const { sentence, partitions = 3, test } of logPromises) {
      if (sentence in gaps) continue;
      it(
        sentence,
        async () => {
          stage = new Stage(await open({ topics: [inputTopic, outputTopic], partitions }), patienceMs, longTaskMs, heldBound);
          await test(stage);
        },
        patienceMs * 6 + longTaskMs * 4,
      );
    }

    it('names only promises of the port as gaps, each with a reason', () => {
      const sentences = logPromises.map(({ sentence }) => sentence);
      for (const [sentence, reason] of Object.entries(gaps)) {
        expect(sentences).toContain(sentence);
        expect(reason).not.toBe('');
      }
    });
  });
}
