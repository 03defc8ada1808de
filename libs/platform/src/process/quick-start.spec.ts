import module from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { afterAll, describe, expect, it } from '@jest/globals';
import { quickStart } from './quick-start.js';

const { getCompileCacheDir } = module as { getCompileCacheDir?: () => string | undefined };

setFlagsFromString('--allow-natives-syntax');
afterAll(() => setFlagsFromString('--no-allow-natives-syntax'));

/** A function that V8 optimises soon, and whether it has. Bits 4 and 5 of the status: optimised, by the last compiler. */
const hotFunction = (): { call: () => void; isOptimised: () => boolean } => {
  const hot = new Function('let n = 0; const add = (x) => { n = (n + x) % 1_000_003; return n; }; return add;')() as (x: number) => number;
  const statusOf = new Function('hot', 'return %GetOptimizationStatus(hot);') as (hot: unknown) => number;
  return {
    call: () => {
      for (let x = 0; x < 2_000_000; x += 1) hot(x);
    },
    isOptimised: () => (statusOf(hot) & 0b11_0000) !== 0,
  };
};

/** Runs the function until V8, which compiles in another thread, has optimised it; false after so many attempts. */
async function becomesOptimised({ call, isOptimised }: ReturnType<typeof hotFunction>, attempts = 50): Promise<boolean> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    call();
    await delay(5);
    if (isOptimised()) return true;
  }
  return false;
}

describe('quickStart', () => {
  if (getCompileCacheDir)
    it('caches compiled modules', async () => {
      await quickStart(() => Promise.resolve());
      expect(getCompileCacheDir()).toEqual(expect.any(String));
    });
  else
    it('has no function optimised while the program starts, and optimises them afterwards, even if the start fails', async () => {
      let during: boolean | undefined;
      const start = quickStart(async () => {
        // Few: after two seconds the program would count as started.
        during = await becomesOptimised(hotFunction(), 4);
        throw new Error('no store');
      });
      await expect(start).rejects.toThrow('no store');
      expect(during).toBe(false);
      expect(await becomesOptimised(hotFunction())).toBe(true);
    });

  it('has functions optimised in a program that is still starting after two seconds', async () => {
    let late: boolean | undefined;
    await quickStart(async () => {
      await delay(2_100);
      late = await becomesOptimised(hotFunction());
    });
    expect(late).toBe(true);
  });
});
