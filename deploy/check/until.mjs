import { setTimeout as delay } from 'node:timers/promises';

/** Calls `probe` until it returns a truthy value, and returns that value; a probe that throws is repeated. Throws after `withinMs` ms. */
export async function until(what, probe, withinMs) {
  const end = Date.now() + withinMs;
  for (;;) {
    const found = await probe().catch(() => null);
    if (found) return found;
    if (Date.now() > end) throw new Error(`Waited ${withinMs / 1_000} s in vain for ${what}.`);
    await delay(200);
  }
}

/** Throws with the sentence if it is false. */
export function check(holds, sentence) {
  if (!holds) throw new Error(`This does not hold: ${sentence}`);
}
