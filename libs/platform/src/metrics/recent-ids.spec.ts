import { describe, expect, it } from '@jest/globals';
import { RecentIds } from './recent-ids.js';

describe('ids seen lately', () => {
  it('remembers at least the requested number, and forgets ids that are older than twice as many', () => {
    const ids = new RecentIds(100);
    for (let n = 0; n < 250; n += 1) expect(ids.add(`id ${n}`)).toBe(true);
    for (let n = 150; n < 250; n += 1) expect(ids.add(`id ${n}`)).toBe(false);
    expect(ids.add('id 0')).toBe(true);
    expect(ids.add('id 0')).toBe(false);
  });
});
