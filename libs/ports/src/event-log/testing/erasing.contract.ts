import { expect } from '@jest/globals';
import { erasedHeader, isErased } from '../record.js';
import { blobThresholdBytes } from '../../blobs/blobs.js';
import type { LogPromise } from './event-log-world.js';
import { inputTopic, sampleInput, sampleOutput, sampleRunId } from './sample-events.js';

export const erasingPromises: readonly LogPromise[] = [
  {
    sentence: 'erases what it can of a run, and reports whether that is all',
    async test(stage) {
      const { log } = stage;
      const child = { ...sampleInput('child'), runId: `${sampleRunId('gone')}~0.t1`, id: `${sampleRunId('gone')}~0.t1/proposed` };
      const events = [sampleInput('a', 'gone', 'canary'), sampleInput('b', 'gone', 'canary'.repeat(blobThresholdBytes)), child];
      await log.publish([...events, sampleInput('c', 'stays')]);
      const said = await log.erase(sampleRunId('gone'));
      expect(await log.erase(sampleRunId('gone'))).toBe(said);
      const late = { ...sampleInput('late', 'gone', 'canary') };
      await log.publish([late]);
      const records = await stage.stored(inputTopic);
      const stays = records.filter(({ event }) => event !== null);
      if (said === 'kept') return void expect(stays).toHaveLength(5);
      expect(stays.map(({ event }) => event!.runId)).toEqual([sampleRunId('stays')]);
      const erased = records.filter((record) => isErased(record));
      expect(new Set(erased.map(({ headers }) => headers['ce_id']))).toEqual(new Set([...events, late].map(({ id }) => id)));
      for (const { headers, raw } of erased) {
        expect(headers).toMatchObject({ ce_type: late.type, [erasedHeader]: expect.any(String) });
        expect(raw.toString()).not.toContain('canary');
        expect(headers).not.toHaveProperty('ce_dataref');
      }
    },
  },
  {
    sentence: 'finishes an erased record without its handler and without a dead letter, once it was reported as erased',
    async test(stage) {
      const { log } = stage;
      await log.publish([sampleInput('a', 'gone'), sampleInput('b', 'stays')]);
      const said = await log.erase(sampleRunId('gone'));
      const told: string[] = [];
      await stage.consume(async () => [sampleOutput('x')], {
        onErased: async ({ type, runId }) => {
          told.push(`${type} ${runId}`);
          // Deferred once, then retried.
          return told.length === 1 ? { deferMs: 1 } : [];
        },
      });
      const expected = said === 'kept' ? ['a', 'b'] : ['b'];
      await stage.until('nothing is left', async () => stage.seen.names.length === expected.length && (await stage.lag()) === 0);
      expect([...stage.seen.names].sort()).toEqual(expected);
      expect(await stage.dead()).toEqual([]);
      const { type } = sampleInput('a');
      expect(told).toEqual(said === 'kept' ? [] : Array(2).fill(`${type} ${sampleRunId('gone')}`));
    },
  },
];
