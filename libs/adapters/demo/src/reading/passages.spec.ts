import { describe, expect, it } from '@jest/globals';
import { passageOf, readPassages } from './passages.js';

describe('A passage', () => {
  const sentencesOf = (text: string): readonly string[] => passageOf(1, text, 'Guide').sentences.map((sentence) => sentence.text);

  it('loses marks of Markdown, but no underscore inside a name', () => {
    expect(sentencesOf('_Set_ the **variable** `CMAKE_BUILD_TYPE` to __Debug__.')).toEqual(['Set the variable CMAKE_BUILD_TYPE to Debug.']);
  });

  it('states nothing in its code', () => {
    expect(sentencesOf('Call it so: ``` let a = dangle(); ``` It returns nothing. ``` fn dangle() {')).toEqual([
      'Call it so: It returns nothing.',
    ]);
  });
});

describe('a document of 48,000 characters', () => {
  it.each(['0', '[', '__', '\n', ' — ', '](', 'aa', '- ', '|', '<a', '. '])(
    'is read in time proportional to its length, made of %j',
    (part) => {
      const took = (): number => {
        const begun = process.cpuUsage();
        for (const [before, behind] of [
          ['', ''],
          ['00', 'x'],
          ['A', '>'],
        ] as const)
          readPassages(`[1] ${before}${part.repeat(48_000 / part.length)}${behind}`);
        return process.cpuUsage(begun).user / 1_000;
      };
      // The least of three: beside other work a machine with slow memory took five times as long once.
      expect(Math.min(took(), took(), took())).toBeLessThan(1_000);
    },
  );
});
