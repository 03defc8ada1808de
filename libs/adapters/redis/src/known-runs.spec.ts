import { describe, expect, it } from '@jest/globals';
import { KnownRuns } from './known-runs.js';

describe('the runs a process knows', () => {
  const known = (runs: KnownRuns, ...names: string[]) => names.filter((name) => runs.get(name) !== undefined);

  it('are limited in number and keep those written last', () => {
    const runs = new KnownRuns({ runs: 2, characters: 100 });
    runs.set('a', { version: 1, state: '{}' });
    runs.set('b', { version: 1, state: '{}' });
    runs.set('a', { version: 2, state: '{}' });
    runs.set('c', { version: 1, state: '{}' });
    expect(known(runs, 'a', 'b', 'c')).toEqual(['a', 'c']);
    expect(runs.get('a')).toEqual({ version: 2, state: '{}' });
  });

  it('are limited in size and can be forgotten individually or all at once', () => {
    const runs = new KnownRuns({ runs: 10, characters: 10 });
    runs.set('a', { version: 1, state: '123456' });
    runs.set('b', { version: 1, state: '123456' });
    expect(known(runs, 'a', 'b')).toEqual(['b']);
    runs.forget('b');
    runs.set('c', { version: 1, state: '1234' });
    runs.set('d', { version: 1, state: '123456' });
    expect(known(runs, 'c', 'd')).toEqual(['c', 'd']);
    runs.clear();
    expect(known(runs, 'c', 'd')).toEqual([]);
  });
});
