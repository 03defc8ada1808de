import { isOutage } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { ReplyError } from 'ioredis';
import { storeFailure } from './store-failure.js';

describe('An error of the Redis client', () => {
  it.each([
    ['STORE_UNAVAILABLE', new Error('Command timed out')],
    ['STORE_UNAVAILABLE', new Error('Connection is closed.')],
    ['STORE_UNAVAILABLE', new ReplyError('LOADING Redis is loading the dataset in memory')],
    ['STORE_UNAVAILABLE', new ReplyError("READONLY You can't write against a read only replica. script: 1f, on @user_script:3.")],
    ['STORE_UNAVAILABLE', new ReplyError('WRONGPASS invalid username-password pair or user is disabled.')],
    ['STORE_UNAVAILABLE', new ReplyError('BUSY Redis is busy running a script.')],
    ['STORE_UNAVAILABLE', new ReplyError('ERR max number of clients reached')],
    ['STORE_FULL', new ReplyError("OOM command not allowed when used memory > 'maxmemory'. script: 1f, on @user_script:20.")],
    ['STORE_FULL', new ReplyError("ERR Error running script: @user_script: 20: -OOM command not allowed when used memory > 'maxmemory'.")],
    ['STORE_FULL', new ReplyError('MISCONF Errors writing to the AOF file: No space left on device')],
    ['STORE_REPLACED', new ReplyError('CONCLAVE_REPLACED this is not the store that was opened')],
    ['INTERNAL', new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value')],
  ] as const)('is %s for "%s"', (code, error) => {
    expect(storeFailure(error, 'write-step')).toMatchObject({ code, cause: error });
  });

  it('is an outage unless the mistake is ours', () => {
    expect(isOutage(storeFailure(new Error('Command timed out'), 'probe'))).toBe(true);
    expect(isOutage(storeFailure(new ReplyError('WRONGTYPE ...'), 'probe'))).toBe(false);
  });
});
