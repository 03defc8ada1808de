import { constants } from 'node:os';
import { expect, it } from '@jest/globals';
import { growthRefusal } from './growth-refusals.js';

const failed = (code: string, errno: number): Error => Object.assign(new Error(code), { code, errno });

it('a file that may not grow is told apart from other errors, also where Node.js has no name for the reason', () => {
  const { EDQUOT, ENOSPC, EIO } = constants.errno;
  // As Node.js reports it.
  expect(growthRefusal(failed(`Unknown system error -${EDQUOT}`, -EDQUOT))).toEqual({
    code: 'EDQUOT',
    sentence: expect.stringContaining('quota'),
  });
  expect(growthRefusal(failed('ENOSPC', -ENOSPC))).toMatchObject({ code: 'ENOSPC' });
  expect([failed('EIO', -EIO), new Error('no code'), null, 'text'].map(growthRefusal)).toEqual([null, null, null, null]);
});
