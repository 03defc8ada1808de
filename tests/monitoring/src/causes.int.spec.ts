import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { alerts } from '@conclave/test-support/monitoring';
import { ask, user } from '@conclave/test-support/system';
import { causes, consequences, phases, type Cause, type Phase } from './causes.js';
import { faults, isAbout, type Expected } from './faults.js';
import { nowS } from './prometheus.js';
import { startTroubled, troubledQuestion, troubles, type Troubled } from './troubled-system.js';

/** Milliseconds from a cause to its alert, on a busy machine. */
const patienceMs = 120_000;

/** A cause in progress: `done` settles when the cause has lasted until `over`. */
interface Made {
  readonly done: Promise<void>;
  readonly over: AbortController;
}

describe('a distributed system in which much goes wrong', () => {
  let troubled: Troubled;
  let from: number;
  const made = new Map<Cause, Made>();

  const fired = () => troubled.prometheus.fired(from, nowS());
  const hasFired = async (expected: Expected): Promise<boolean> => (await fired()).some((one) => isAbout(one, expected));

  beforeAll(async () => {
    troubled = await startTroubled();
    from = nowS();
  }, 180_000);
  afterAll(async () => {
    for (const { over } of made.values()) over.abort();
    await troubled?.stop();
  }, 60_000);

  it('fires no alert before anything goes wrong', async () => {
    const end = Date.now() + 15_000;
    while (Date.now() < end) {
      for (const [model, question] of [
        ['alone', troubledQuestion()],
        ['judged', troubledQuestion()],
        ['knowing', troubledQuestion(troubles.known)],
      ])
        expect(await ask(troubled.system.url(), { model, messages: user(question!) })).toMatchObject({ status: 200 });
      await delay(1_000);
    }
    expect(await fired()).toEqual([]);
  }, 60_000);

  const inPhase = (phase: Phase) => causes.filter((one) => one.phase === phase);
  const awaitedIn = (phase: Phase) => causes.filter((one) => (one.awaited ?? one.phase) === phase);

  describe.each(Object.entries(phases) as [Phase, string][])('%s: %s', (phase) => {
    beforeAll(async () => {
      const early = (await fired()).filter((one) =>
        inPhase(phase).some((cause) => cause.alerts.some((expected) => isAbout(one, expected))),
      );
      if (early.length > 0) throw new Error(`These alerts fire without their cause: ${JSON.stringify(early)}`);
      for (const cause of inPhase(phase)) {
        const over = new AbortController();
        const done = cause.make(troubled, over.signal);
        // The test of its alert, or the end of the phase, reports it.
        done.catch(() => undefined);
        made.set(cause, { done, over });
      }
    });

    it.each(awaitedIn(phase).flatMap((cause) => cause.alerts.map(({ alert, labels }) => ({ alert, labels, cause, what: cause.cause }))))(
      'fires $alert $labels for $what',
      async ({ alert, labels, cause }) => {
        const seen = until(`${alert} to fire`, () => hasFired({ alert, labels }), { timeoutMs: patienceMs, everyMs: 500 });
        await Promise.race([seen, made.get(cause)!.done.then(() => seen)]);
      },
      patienceMs + 10_000,
    );

    afterAll(async () => {
      const ended = awaitedIn(phase).flatMap((cause) => made.get(cause) ?? []);
      for (const { over } of ended) over.abort();
      await Promise.all(ended.map(({ done }) => done));
    }, 60_000);
  });

  it('fires no other alert', async () => {
    const expected = [...causes.flatMap((cause) => cause.alerts), ...consequences];
    expect((await fired()).filter((one) => !expected.some((some) => isAbout(one, some)))).toEqual([]);
  });

  it('leaves no alert without a cause', () => {
    const tried = new Set([...causes.flatMap((cause) => cause.alerts), ...faults].map(({ alert }) => alert));
    expect(alerts.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
  });
});
