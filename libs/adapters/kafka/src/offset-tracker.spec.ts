import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { OffsetTracker } from './offset-tracker.js';

const rising = fc.uniqueArray(fc.nat(500), { minLength: 1, maxLength: 60 }).map((offsets) => [...offsets].sort((a, b) => a - b));
/** Ascending offsets with gaps, and an order in which some of them finish. */
const story = rising.chain((offsets) => fc.record({ offsets: fc.constant(offsets), finished: fc.shuffledSubarray(offsets) }));

describe('an offset tracker', () => {
  it('never commits past a record that was fetched and is not finished', () => {
    fc.assert(
      fc.property(story, ({ offsets, finished }) => {
        const tracker = new OffsetTracker();
        for (const offset of offsets) expect(tracker.see(BigInt(offset))).toBe(true);
        const done = new Set<number>();
        for (const offset of finished) {
          tracker.finish(BigInt(offset));
          done.add(offset);
          const unfinished = offsets.filter((seen) => !done.has(seen));
          const firstUnfinished = unfinished[0] ?? Infinity;
          if (tracker.position !== null) expect(Number(tracker.position)).toBeLessThanOrEqual(firstUnfinished);
          expect(tracker.open).toBe(offsets.filter((seen) => seen >= firstUnfinished).length);
        }
      }),
    );
  });

  it('commits up to the end of the finished prefix', () => {
    fc.assert(
      fc.property(story, ({ offsets, finished }) => {
        const tracker = new OffsetTracker();
        for (const offset of offsets) tracker.see(BigInt(offset));
        for (const offset of finished) tracker.finish(BigInt(offset));
        const prefix: number[] = [];
        for (const offset of offsets) {
          if (!finished.includes(offset)) break;
          prefix.push(offset);
        }
        expect(tracker.position).toBe(prefix.length === 0 ? null : BigInt(prefix.at(-1)! + 1));
      }),
    );
  });

  it('recognises records that a rejoin repeats', () => {
    fc.assert(
      fc.property(story, fc.nat(60), ({ offsets, finished }, back) => {
        const tracker = new OffsetTracker();
        for (const offset of offsets) tracker.see(BigInt(offset));
        for (const offset of finished) tracker.finish(BigInt(offset));
        for (const offset of offsets.slice(-back)) expect(tracker.see(BigInt(offset))).toBe(false);
        expect(tracker.see(BigInt(offsets.at(-1)! + 1))).toBe(true);
      }),
    );
  });

  it('never moves back, and skips records that other members finished', () => {
    fc.assert(
      fc.property(story, fc.nat(600), ({ offsets, finished }, elsewhere) => {
        const tracker = new OffsetTracker();
        const half = Math.floor(finished.length / 2);
        for (const offset of offsets) tracker.see(BigInt(offset));
        for (const offset of finished.slice(0, half)) tracker.finish(BigInt(offset));
        const before = tracker.position;
        tracker.advanceTo(BigInt(elsewhere));
        for (const offset of finished.slice(half)) tracker.finish(BigInt(offset));
        const open = offsets.filter((offset) => offset >= elsewhere && !finished.includes(offset));
        expect(tracker.position!).toBeGreaterThanOrEqual(BigInt(elsewhere));
        if (before !== null) expect(tracker.position!).toBeGreaterThanOrEqual(before);
        if (open.length > 0) expect(tracker.position!).toBeLessThanOrEqual(BigInt(open[0]!));
        if (elsewhere > 0) expect(tracker.see(BigInt(elsewhere - 1))).toBe(false);
      }),
    );
  });

  it('uses bounded memory while one record is stuck and while none is', () => {
    const tracker = new OffsetTracker();
    for (let offset = 0n; offset < 10_000n; offset += 1n) {
      tracker.see(offset);
      tracker.finish(offset);
    }
    expect(tracker.open).toBe(0);
    expect(tracker.position).toBe(10_000n);
  });
});
