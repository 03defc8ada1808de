import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { defaultTimeouts } from './configuration.js';
import { Watchdog } from './watchdog.js';

/** The sentence about an attempt that was cut after `act`. */
async function said(leftMs: number, firstTokenMs: number | null, act: (watchdog: Watchdog) => void = () => undefined): Promise<string> {
  const watchdog = new Watchdog(new AbortController().signal, leftMs, firstTokenMs, { ...defaultTimeouts, idle_ms: 100 });
  const cut = once(watchdog.controller.signal, 'abort');
  act(watchdog);
  await cut;
  watchdog.close();
  return watchdog.failure('p')!.message;
}

describe('a call that was cut', () => {
  it('tells a server that sent nothing, which may be stuck, from one that was too slow', async () => {
    expect(await said(100, null)).toContain('Provider p sent nothing for 0.1 s, the time limit of the call. Check that it is not stuck');
    expect(await said(100, null, (watchdog) => watchdog.heard(false))).toMatch(
      /p had not finished after 0\.1 s, the time limit of the call\.$/,
    );
  });

  it('names the setting of the limit that it reached', async () => {
    expect(await said(5_000, 100)).toMatch(/sent nothing for 0\.1 s, the limit of `first_token_s`\.$/);
    expect(await said(5_000, 50, (watchdog) => watchdog.heard(true))).toMatch(
      /silent for 0\.1 s in the middle of its answer, the limit of `idle_s`\.$/,
    );
  });
});
