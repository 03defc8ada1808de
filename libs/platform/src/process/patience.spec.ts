import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { silentLogger } from '../logging/logger.js';
import { retryWhileStarting } from './patience.js';

describe('patience at the start', () => {
  it('waits for a store that is starting too', async () => {
    let asked = 0;
    const answer = await retryWhileStarting(async () => {
      asked += 1;
      if (asked < 2) throw new Failure('LOG_UNAVAILABLE');
      return 'there';
    }, silentLogger);
    expect([answer, asked]).toEqual(['there', 2]);
  });

  it.each([new Failure('STORE_REPLACED'), new Failure('CONFIGURATION_INVALID'), new TypeError('ours')])(
    'does not wait for what time cannot fix: %s',
    async (error) => {
      let asked = 0;
      await expect(retryWhileStarting(async () => ((asked += 1), Promise.reject(error)), silentLogger)).rejects.toBe(error);
      expect(asked).toBe(1);
    },
  );

  it('gives up when it has waited long enough', async () => {
    await expect(retryWhileStarting(async () => Promise.reject(new Failure('LOG_UNAVAILABLE')), silentLogger, 0)).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
    });
  });
});
