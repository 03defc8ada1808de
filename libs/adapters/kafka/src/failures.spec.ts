import { describe, expect, it } from '@jest/globals';
import { logUnavailable } from './failures.js';

describe('a failure of the log', () => {
  it('says why the first of several topics was refused, and how many more were', () => {
    const refused = (topic: string) => Object.assign(new Error('Topic authorization failed'), { topic });
    const cause = Object.assign(new Error('Topic creation errors'), { errors: [refused('audit'), refused('dead'), refused('runs')] });
    expect(logUnavailable('Creating topics', cause).message).toContain('Creating topics: audit: Topic authorization failed (and 2 more)');
  });

  it('contains the reason of an error', () => {
    expect(logUnavailable('Connecting', new Error('Connection timeout')).message).toContain('Connecting: Connection timeout');
    expect(logUnavailable('Connecting', 'gone').message).toContain('Connecting: gone');
  });
});
