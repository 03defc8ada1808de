import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { admit, type BreakerState, type CallHealth, defaultBreaker, phaseOf, settle, type BreakerSettings } from './breaker.js';

const { openMs } = defaultBreaker;

/** Breaker state after sequential calls, a millisecond apart from 1,000 on. */
function after(healths: readonly CallHealth[], settings: BreakerSettings = defaultBreaker, from: BreakerState | null = null) {
  return healths.reduce<BreakerState | null>((state, health, n) => {
    const now = 1_000 + n;
    return settle(state, { by: `c${n}`, begunAt: now, now, health }, settings);
  }, from);
}
const of = (letters: string): CallHealth[] =>
  [...letters].map((letter) => (letter === 'F' ? 'unwell' : letter === 'w' ? 'well' : 'neither'));

describe('a breaker', () => {
  it.each([
    ['five failures in a row', 'FFFFF'],
    ['failures with calls between them that say nothing', 'FF-FF-F'],
    ['half of the last twenty', 'FwFwFwFwFwFwFwFwFwF'],
    ['half of the last twenty, however well it went before', `${'w'.repeat(50)}FFFFwFFFFwwwFwF`],
  ])('opens after %s', (_what, calls) => {
    expect(after(of(calls.slice(0, -1)))).not.toMatchObject({ kind: 'open' });
    const last = calls.length - 1;
    expect(after(of(calls))).toEqual({ kind: 'open', opened: { at: 1_000 + last, by: `c${last}` } });
  });

  it('stays closed as long as fewer calls fail, and forgets failures that twenty calls have followed', () => {
    expect(after(of('FFFFwFFFFw'))).toMatchObject({ kind: 'closed' });
    expect(after(of('Fww'.repeat(40)))).toMatchObject({ kind: 'closed' });
    expect(after(of('-'.repeat(100)))).toBeNull();
    expect(after(of(`FFFF${'w'.repeat(20)}`))).toEqual({ kind: 'closed', since: 0, failed: [] });
  });

  it('is not written for calls that succeed while nothing has failed', () => {
    const closed: BreakerState = { kind: 'closed', since: 5, failed: [] };
    expect([after(of('wwww')), after(of('wwww'), defaultBreaker, closed)]).toEqual([null, closed]);
  });

  it('refuses while it is open, lets one probe through when its time is over, and another only if that one is lost', () => {
    const open: BreakerState = { kind: 'open', opened: { at: 1_000, by: 'c' } };
    expect(admit(open, { by: 'a', now: 1_000 + openMs - 1 }, openMs)).toEqual({ kind: 'refused', retryInMs: 1 });
    const at = 1_000 + openMs;
    const first = admit(open, { by: 'a', now: at }, openMs);
    expect(first).toEqual({ kind: 'probe', next: { kind: 'half-open', opened: open.opened, probe: { by: 'a', since: at } } });
    const { next } = first as Extract<typeof first, { kind: 'probe' }>;
    expect(admit(next, { by: 'b', now: at + 10 }, openMs)).toEqual({ kind: 'refused', retryInMs: openMs - 10 });
    expect(admit(next, { by: 'b', now: at + openMs }, openMs)).toMatchObject({ kind: 'probe', next: { probe: { by: 'b' } } });
  });

  it.each<[CallHealth, BreakerState]>([
    ['well', { kind: 'closed', since: 90_000, failed: [] }],
    ['unwell', { kind: 'open', opened: { at: 90_000, by: 'probe' } }],
    ['neither', { kind: 'open', opened: { at: 1, by: 'c' } }],
  ])('is unchanged after a probe that ended %s', (health, then) => {
    const halfOpen: BreakerState = { kind: 'half-open', opened: { at: 1, by: 'c' }, probe: { by: 'probe', since: 80_000 } };
    expect(settle(halfOpen, { by: 'probe', begunAt: 80_000, now: 90_000, health }, defaultBreaker)).toEqual(then);
    expect(settle(halfOpen, { by: 'other', begunAt: 80_000, now: 90_000, health }, defaultBreaker)).toBe(halfOpen);
  });

  it('does not open again for calls that began before it closed', () => {
    const closed: BreakerState = { kind: 'closed', since: 2_000, failed: [] };
    expect(after(of('FFFFFFF'), defaultBreaker, closed)).toBe(closed);
  });

  it('is shown as half-open once its time is over', () => {
    const open: BreakerState = { kind: 'open', opened: { at: 0, by: 'c' } };
    expect([phaseOf(null, 5, 10), phaseOf(open, 9, 10), phaseOf(open, 10, 10)]).toEqual(['closed', 'open', 'half-open']);
  });
});

const step = fc.record({
  call: fc.nat(5),
  afterMs: fc.nat(60),
  health: fc.constantFrom<CallHealth>('well', 'unwell', 'unwell', 'neither'),
});
const choice = fc.record({
  failures: fc.integer({ min: 1, max: 6 }),
  window: fc.integer({ min: 1, max: 12 }),
  share: fc.double({ min: 0.1, max: 1, noNaN: true }),
  openMs: fc.integer({ min: 1, max: 100 }),
});

describe('whatever calls do', () => {
  it('an open breaker lets nothing through before its time, one probe at a time after it, and only a successful probe closes it', () => {
    fc.assert(
      fc.property(choice, fc.array(step, { maxLength: 120 }), (settings, steps) => {
        let state: BreakerState | null = null;
        let now = 1;
        const running = new Map<number, number>();
        for (const { call, afterMs, health } of steps) {
          now += afterMs;
          const by = `c${call}`;
          const before: BreakerState | null = state;
          const begunAt = running.get(call);
          if (begunAt === undefined) {
            const admission = admit(before, { by, now }, settings.openMs);
            const isProbeOut = before?.kind === 'half-open' && now < before.probe.since + settings.openMs;
            const isShut = before?.kind === 'open' && now < before.opened.at + settings.openMs;
            expect(admission.kind).toBe(isProbeOut || isShut ? 'refused' : before === null || before.kind === 'closed' ? 'go' : 'probe');
            if (admission.kind === 'refused') expect(admission.retryInMs).toBeGreaterThan(0);
            else running.set(call, now);
            if (admission.kind === 'probe') state = admission.next;
            continue;
          }
          running.delete(call);
          state = settle(before, { by, begunAt, now, health }, settings);
          if (state === before) continue;
          const isProbe = before?.kind === 'half-open' && before.probe.by === by;
          if (state?.kind === 'closed' && before?.kind !== 'closed' && before !== null) expect([isProbe, health]).toEqual([true, 'well']);
          if (before?.kind === 'open') throw new Error('An open breaker was changed by a call that it did not let through.');
          if (state?.kind === 'open' && health === 'unwell') expect(state.opened).toEqual({ at: now, by });
          if (state?.kind === 'closed') expect(state.failed.length).toBeLessThanOrEqual(Math.max(settings.window, settings.failures));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
