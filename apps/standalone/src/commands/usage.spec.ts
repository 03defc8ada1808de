import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { version } from '../version.js';
import { meant, numberOf, readArguments } from './usage.js';

const options = { model: { type: 'string', short: 'm' }, json: { type: 'boolean' } } as const;

describe('a mistake at the command line', () => {
  it.each([
    [['--nope'], 'There is no option --nope. `conclave help` lists all.'],
    [['--modl', 'x'], 'There is no option --modl. Did you mean --model? `conclave help` lists all.'],
    [['--model'], 'Option --model needs a value.'],
    [['--json=yes'], 'Option --json takes no value.'],
  ])('is reported in a sentence: %j', (args, sentence) => {
    expect(() => readArguments(args, options)).toThrow(sentence);
  });

  it('suggests the nearest command, and none for another word', () => {
    const commands = ['ask', 'runs', 'run', 'replay', 'version'];
    const words = ['rusn', 'aks', 'replya', 'vers', 'bogus', 'x'];
    expect(words.map((word) => meant(word, commands))).toEqual(['runs', 'ask', 'replay', 'version', null, null]);
  });

  it('names the bounds of a number', () => {
    expect(numberOf('limit', '20', 1, 100)).toBe(20);
    for (const text of ['0', '101', 'many', '1.5'])
      expect(() => numberOf('limit', text, 1, 100)).toThrow('--limit must be a whole number from 1 to 100.');
  });
});

describe('the version', () => {
  it('is that of the package', () => {
    const { version: written } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(version).toBe(written);
  });
});
