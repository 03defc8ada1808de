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
});
