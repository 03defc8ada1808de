import { describe, expect, it } from '@jest/globals';
import { blame, saying } from './blame.js';

const thrown = <E extends Error>(error: E, ...frames: string[]): E =>
  Object.assign(error, { stack: [`${error.name}: ${error.message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n') });
const ours = 'Object.next (file:///srv/jury.mjs:3:9)';

describe('what an extension throws', () => {
  it('has the line of the module that called a built-in function', () => {
    const error = thrown(new TypeError('object is not extensible'), 'Array.push (<anonymous>)', ours, 'step (node:vm:1:1)');
    expect(blame(error)).toBe('TypeError: object is not extensible (jury.mjs:3:9)');
    expect(saying(error)).toBe('TypeError: object is not extensible (jury.mjs:3:9)');
  });

  it('has no line for readers of a result if it is thrown on purpose', () => {
    const error = thrown(new Error('no tide table'), ours);
    expect(saying(error)).toBe('no tide table');
    expect(blame(error)).toBe('Error: no tide table (jury.mjs:3:9)');
    expect(saying('late')).toBe('late');
  });

  it('says why a request failed, which only the cause says', () => {
    const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:9') });
    expect(saying(thrown(refused, ours))).toBe('TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:9 (jury.mjs:3:9)');
    const both = new AggregateError([new Error('the first is down'), new RangeError()]);
    expect(saying(both)).toBe('the first is down; RangeError');
    expect(saying(new Error('no table', { cause: { code: 7 } }))).toBe('no table: {"code":7}');
  });

  it('is shown even if it is no Error', () => {
    const cyclic: Record<string, unknown> = { code: 7n };
    cyclic['self'] = cyclic;
    const said = [{ code: 7, detail: 'no tide' }, undefined, cyclic].map(saying);
    expect(said).toEqual([
      'it threw {"code":7,"detail":"no tide"}, which is no Error',
      'it threw undefined, which is no Error',
      'it threw a value of the type object, which is no Error',
    ]);
  });
});
